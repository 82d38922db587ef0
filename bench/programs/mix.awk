# Words, fields and arrays, as scripts use them; the argument is the number of rounds.
BEGIN {
  rounds = ARGV[1]
  for (round = 0; round < rounds; round++) {
    text = ""
    for (i = 0; i < 400; i++) {
      state = (state * 1103 + 12345) % 65536
      text = text " w" state % 97
    }
    n = split(text, words, " ")
    for (i = 1; i <= n; i++) count[words[i]]++
    gsub(/w[0-9]*7/, "seven", text)
    sum += length(text)
    if (match(text, /seven w1/)) sum += RSTART
  }
  for (word in count) sum += count[word] * length(word)
  print sum
}
