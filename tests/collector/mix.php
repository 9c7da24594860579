<?php
// Functions and a method that take about as long as each other, for as many seconds as the argument says.
function fib($n)
{
    return $n < 2 ? $n : fib($n - 1) + fib($n - 2);
}

function primes($limit)
{
    $count = 0;
    for ($i = 2; $i < $limit; $i++) {
        for ($j = 2; $j * $j <= $i && $i % $j != 0; $j++) {
        }
        $count += $j * $j > $i ? 1 : 0;
    }
    return $count;
}

class Mix
{
    function spin($n)
    {
        $sum = 0;
        for ($i = 0; $i < $n; $i++) {
            $sum = ($sum * 31 + $i) % 1000003;
        }
        return $sum;
    }
}

// The processor's, so that a busy machine changes nothing.
function seconds()
{
    $used = getrusage();
    return $used['ru_utime.tv_sec'] + $used['ru_utime.tv_usec'] / 1e6;
}

$mix = new Mix;
$end = seconds() + (float) ($argv[1] ?? 1);
$rounds = 0;
for ($result = 0; seconds() < $end; $rounds++) {
    $result += fib(20) + primes(4000) + $mix->spin(100000);
}
echo $result, "\n";
fprintf(STDERR, "%d\n", $rounds);
