# What a user asks for by its path, and is there already: nothing is to be done.
rule there:
    input:
        THERE,
