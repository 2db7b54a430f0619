/// <reference lib="webworker" />
import { read, type TextJob } from '../session/text/text-jobs.ts'

// A worker that processes texts too long to process on the page without delaying it.
const thread = self as unknown as DedicatedWorkerGlobalScope

thread.addEventListener('message', ({ data }: MessageEvent<{ id: number; asked: TextJob }>) => {
  thread.postMessage({ id: data.id, answer: read(data.asked) ?? null })
})
