/** Two short tones. Silent until the page has been touched, which browsers require. */
export async function playSound(): Promise<void> {
  const context = new AudioContext()
  try {
    if (context.state !== 'running') await context.resume()
    const end = tones.reduce((at, hertz) => playTone(context, hertz, at), context.currentTime)
    await new Promise(resolve => setTimeout(resolve, (end - context.currentTime) * 1000))
  } finally {
    await context.close()
  }
}

const tones = [659, 880]
const toneS = 0.14

function playTone(context: AudioContext, hertz: number, at: number): number {
  const [tone, volume] = [context.createOscillator(), context.createGain()]
  tone.frequency.value = hertz
  volume.gain.setValueAtTime(0, at)
  volume.gain.linearRampToValueAtTime(0.12, at + 0.02)
  volume.gain.exponentialRampToValueAtTime(0.001, at + toneS)
  tone.connect(volume).connect(context.destination)
  tone.start(at)
  tone.stop(at + toneS)
  return at + toneS
}
