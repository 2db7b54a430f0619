import { type Signal, signal } from '@preact/signals'
import { rich } from './lazy-rich.ts'
import type { AnswerTo, TextJob } from './text-jobs.ts'

/** Inserted by the build: the path of the worker's script. */
declare const READER: string

type Answer = AnswerTo<TextJob> | null

/** `null` is a valid answer: the text is too large. */
interface Kept {
  readonly asked: TextJob
  readonly answer: Signal<Answer>
}

/** In characters; a phone processes as many in well under a frame. */
const longest = 20_000
const mostKept = 40

const kept: Kept[] = []

export function isLong(asked: TextJob): boolean {
  return asked.type === 'markdown' ? asked.text.length > longest : (asked.oldText?.length ?? 0) + asked.newText.length > longest
}

/** The parsed form of a long text or change; undefined while the worker parses it, after which the component is drawn again. */
export function readingOf<Question extends TextJob>(asked: Question): AnswerTo<Question> | null {
  const known = kept.find(each => isSame(each.asked, asked))
  // The answer has the type of its question, which a list of many kinds cannot express.
  if (known !== undefined) return known.answer.value as AnswerTo<Question> | null
  const answer = signal<Answer>(undefined)
  kept.unshift({ asked, answer })
  kept.length = Math.min(kept.length, mostKept)
  void readAside(asked).then(read => (answer.value = read))
  return answer.value as AnswerTo<Question> | null
}

function isSame(a: TextJob, b: TextJob): boolean {
  if (a.type === 'markdown') return b.type === 'markdown' && a.text === b.text
  return b.type === 'diff' && a.newText === b.newText && a.oldText === b.oldText && a.isFile === b.isFile
}

interface Thread {
  ask(asked: TextJob): Promise<Answer>
}

let thread: Thread | undefined

async function readAside(asked: TextJob): Promise<Answer> {
  thread ??= startThread()
  return thread.ask(asked)
}

function startThread(): Thread {
  const waiting = new Map<number, { asked: TextJob; tell(answer: Answer): void }>()
  let last = 0
  const readHere: Thread = { ask: async asked => (await rich.load()).read(asked) ?? null }
  const goOnHere = () => {
    thread = readHere
    for (const { asked, tell } of waiting.values()) void readHere.ask(asked).then(tell)
    waiting.clear()
  }
  try {
    const worker = new Worker(readerUrl())
    worker.addEventListener('message', ({ data }: MessageEvent<{ id: number; answer: Answer }>) => {
      waiting.get(data.id)?.tell(data.answer)
      waiting.delete(data.id)
    })
    worker.addEventListener('error', goOnHere)
    return {
      ask: asked =>
        new Promise(tell => {
          waiting.set(++last, { asked, tell })
          worker.postMessage({ id: last, asked })
        })
    }
  } catch {
    return readHere
  }
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string }
}

// The only text that the page trusts as a script is this constant.
function readerUrl(): string {
  const url = READER
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
  return trustedTypes?.createPolicy('afield-reader', { createScriptURL: () => url }).createScriptURL(url) ?? url
}
