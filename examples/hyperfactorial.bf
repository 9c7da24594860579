Prints the hyperfactorial of 60: the product of 1^1 and 2^2 and 3^3 up to 60^60;
a number of 2864 digits

It can add but not multiply: 60 times a number is a sum of sixty; and that takes
some seconds

The number lies on the tape as decimal digits; the lowest first; seven cells each:

    used     1 for the digits of the number and 0 behind the highest
    digit    of the number that is multiplied
    copy     of the digit while it is being added
    addend   what is still to be added to the sum
    room     10 less the digit of the sum: when it gets to 0 a carry is due
    test     1 where room is 0
    nothing

In front of them lie: a 0 that stops the way back; the rounds left; the factor;
how often it is still to multiply; how often the number is still to be added; a
copy of the factor; nothing

> ++++++++++ ++++++++++ ++++++++++    rounds = 60
  ++++++++++ ++++++++++ ++++++++++
>>>>>> +                            the number: used = 1
> +                                     digit = 1
>>> ++++++++++                          room = 10
<<<<<<<<<<

[                                   for each round
  - > +                                 next factor
  [ - > + >> + <<< ]                    that often to multiply
  >>> [ - <<< + >>> ] <<                    and the factor kept

  [                                     multiply
    - <
    [ - >> + > + <<< ]                      that often to add
    >>> [ - <<< + >>> ] <                       and the factor kept

    [                                       add the number to the sum
      - >>>
      [                                         for each digit from the lowest
        > [ - > + > + << ]                          addend (with its carry) and copy
        > [ - < + > ]                               the digit kept
        >
        [                                           for each unit of the addend
          - > -                                         take it from the room
          > + < [ > - ] >                               is there none left now
          [                                             then carry:
            - < ++++++++++                                  room for the next ten
            >>>>>> + <<<<                                   one for the next digit
          ]
          <<<
        ]
        >>>>
      ]

      >>>
      [                                         carry behind the highest: a new digit
        - > +++++++++
        <<<< + >>>
      ]
      <<<

      <<<<<<< [ <<<<<<< ] >>>>                  all the way back
    ]

    >>>
    [                                       for each digit: the sum is now the number
      > [-] ++++++++++                          digit = 10
      >>> [ - <<< - >>> ]                           less the room
      ++++++++++ >>>                            room = 10
    ]
    <<<<<<< [ <<<<<<< ] >>>                 all the way back
  ]
  <<
]

>>>>>> [ >>>>>>> ] <<<<<<<          to the highest digit
[                                   print from there
  > ++++++++ ++++++++ ++++++++
    ++++++++ ++++++++ ++++++++ .        digit and 48 are its character
  <<<<<<<<
]
++++++++++ .                        and a new line
