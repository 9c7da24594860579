# How much of a profile of generated code is told: of the samples in it, how many carry a
# function's name, and of those, how many a source line.
#
#     perf script -i perf.data     --ns -G -F tid,time,ip,sym,dso          >before
#     perf script -i perf.jit.data --ns -G -F tid,time,ip,sym,dso,srcline  >after
#     awk -f share.awk [-v minimum=99] before after
#
# Kernel samples do not count. Which of the others are in generated code is read from the
# profile as it was recorded: those in executable memory that belongs to no file. What they carry is read from the one that
# `perf inject --jit` has made of it: a name counts where it comes from the dump, a line
# where it has a number. With a `minimum`, exits with 1 if one of the two is less percent.

function share(part, whole) {
    return whole ? 100 * part / whole : 0
}

# A sample is "tid time: ip symbol (dso)"; its source line, if any, is the next line.
/^ *[0-9]+ +[0-9]+\.[0-9]+: / {
    in_function = 0
    if ($3 ~ /^ffff/ && length($3) == 16)
        next
    sample = $1 " " $2 " " $3
    dso = $NF
    if (NR == FNR) {
        samples++
        if (dso ~ /^\((\[unknown\]|\/\/anon|\[anon:.*|.*\/perf-[0-9]+\.map)\)$/) {
            generated++
            is_generated[sample] = 1
        }
    } else if (is_generated[sample] && dso ~ /\/jitted-[0-9]+-[0-9]+\.so\)$/) {
        in_function = $4 != "[unknown]"
        named += in_function
    }
    next
}

in_function {
    sub(/ \(.*\)$/, "")
    with_line += /[^?]:[1-9][0-9]*$/
    in_function = 0
}

END {
    printf "%d of %d samples in user space are in generated code\n", generated, samples
    printf "%d of these, %.2f %%, carry a function name\n", named, share(named, generated)
    printf "%d of these, %.2f %%, carry a source line\n", with_line, share(with_line, named)
    if (share(named, generated) < minimum || share(with_line, named) < minimum)
        exit 1
}
