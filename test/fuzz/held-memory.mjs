// Loaded into the fuzzed server with --import, and --expose-gc: answers each message with what the process holds, in bytes.
// The heap keeps room that nothing lives in, several times what lives, and gives it back when the system asks: that is no leak.
process.on('message', () => {
  globalThis.gc()
  const { rss, heapTotal, heapUsed } = process.memoryUsage()
  process.send(rss - (heapTotal - heapUsed))
})
process.channel.unref()
