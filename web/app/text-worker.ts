/// <reference lib="webworker" />
import { read, type TextJob } from '../session/text/text-jobs.ts'

// A thread for texts that would hold up the page.
const thread = self as unknown as DedicatedWorkerGlobalScope

thread.addEventListener('message', ({ data }: MessageEvent<{ id: number; asked: TextJob }>) => {
  thread.postMessage({ id: data.id, answer: read(data.asked) ?? null })
})
