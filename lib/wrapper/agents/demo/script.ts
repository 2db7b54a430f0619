/** One action of a scripted turn. */
export type Deed =
  | { type: 'think'; text: string }
  /** `overMs` spreads the words over that time. */
  /** `isStep`: it completes a step of the plan. */
  | { type: 'say'; text: string; overMs: number; isStep?: boolean }
  /** That many messages, numbered from 1: one every `everyMs`, or as fast as possible for 0. */
  | { type: 'many'; count: number; text: string; everyMs: number }
  | { type: 'plan'; steps: string[] }
  | { type: 'read' | 'write' | 'exec'; input: Record<string, string> }
  /** Asks with a form, to open a page, or for text. */
  | { type: 'ask'; what: string | undefined }
  /** Says what images came with the prompt. */
  | { type: 'look' }
  | { type: 'fail' }
  | { type: 'die' }

/**
 * Reads what a prompt scripts, so that tests and curious people can have any turn they like:
 *
 *     SCRIPT: think hm; text I will write; tool write {"path":"a.txt","content":"hi"} ;; text done
 *
 * `; ` stands between deeds, `;;` between turns of the model, which here is the same. Deeds are `think`, `text`,
 * `slow <ms> <text>`, `many <n> <text>`, `steady <ms> <n> <text>`, `plan a | b | c`, `tool write|read|exec {…}`,
 * `ask`, `ask <url>`, `ask <question>`, `look`, `error` and `die`.
 * Undefined when the prompt has no script.
 */
export function readScript(prompt: string): Deed[] | undefined {
  const at = prompt.lastIndexOf('SCRIPT:')
  if (at < 0) return undefined
  const [script = ''] = prompt.slice(at + 'SCRIPT:'.length).split('ENDSCRIPT')
  return script
    .split(';;')
    .flatMap(turn => turn.split(/;\s(?=(?:think|text|tool|slow|many|steady|plan|ask|look|error|die)\b)/))
    .map(text => readDeed(text.trim()))
}

function readDeed(text: string): Deed {
  const [, word = 'text', rest = text] = /^(think|text|tool|slow|many|steady|plan|ask|look|error|die)\b\s*([\s\S]*)$/.exec(text) ?? []
  switch (word) {
    case 'think':
      return { type: 'think', text: rest }
    case 'slow': {
      const { count, text } = readCount(rest)
      return { type: 'say', text, overMs: count }
    }
    case 'many': {
      const { count, text } = readCount(rest)
      return { type: 'many', count, text, everyMs: 0 }
    }
    case 'steady': {
      const { count: everyMs, text: counted } = readCount(rest)
      return { type: 'many', ...readCount(counted), everyMs }
    }
    case 'plan':
      return { type: 'plan', steps: rest.split('|').map(step => step.trim()) }
    case 'tool':
      return readTool(rest)
    case 'ask':
      return { type: 'ask', what: rest.trim() || undefined }
    case 'look':
      return { type: 'look' }
    case 'error':
      return { type: 'fail' }
    case 'die':
      return { type: 'die' }
    default:
      return { type: 'say', text: rest, overMs: 0 }
  }
}

function readTool(text: string): Deed {
  const [, name = '', json = ''] = /^(\S+)\s*([\s\S]*)$/.exec(text) ?? []
  const input = readInput(json)
  if (input && (name === 'read' || name === 'write' || name === 'exec')) return { type: name, input }
  return { type: 'say', text: `This script cannot be read: tool ${text}`, overMs: 0 }
}

function readInput(json: string): Record<string, string> | undefined {
  try {
    const value: unknown = JSON.parse(json || '{}')
    if (typeof value !== 'object' || value === null) return undefined
    return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, String(field)]))
  } catch {
    return undefined
  }
}

function readCount(text: string): { count: number; text: string } {
  const [, count = '0', rest = text] = /^(\d+)\s*([\s\S]*)$/.exec(text) ?? []
  return { count: Number(count), text: rest }
}
