/// <reference lib="webworker" />
import { type Asked, read } from '../session/text/long-texts.ts'

// A thread for texts that would hold up the page.
const thread = self as unknown as DedicatedWorkerGlobalScope

thread.addEventListener('message', ({ data }: MessageEvent<{ id: number; asked: Asked }>) => {
  thread.postMessage({ id: data.id, answer: read(data.asked) ?? null })
})
