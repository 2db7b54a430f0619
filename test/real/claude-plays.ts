import { pause } from '../../lib/async/pause.ts'
import type { SessionEvent } from '../../lib/protocol/sealed/messages.ts'
import { below } from '../kills/rounds.ts'
import { texts } from '../wrapper/kit/demo.ts'
import type { PhoneSession } from '../wrapper/kit/phone.ts'
import type { PersonAtTerminal } from '../wrapper/kit/terminal.ts'

/** Where somebody walks: a terminal, and a phone beside it. */
export interface Desk {
  readonly terminal: PersonAtTerminal
  readonly session: PhoneSession
  /** Types it and presses Enter. */
  type(text: string): Promise<void>
  /** Resolves to what `act` does, once a turn has ended after it began, or so many. */
  turn<Result>(act: () => Promise<Result>, count?: number): Promise<Result>
  /** Once the terminal has ended, sits down at another one and goes on with the session. */
  resume(): Promise<void>
}

/** What is wrong on either side; `seen` where nothing is. */
export interface Seen {
  terminal: string
  phone: string
}

/** One turn or more, told apart from all others by the name. Waits for what has to come, and looks at what has to be. */
export type Play = (desk: Desk, name: string) => Promise<Seen>

const claude = /claude .*--session-id|claude .*--resume|claude-code/

export const plays: readonly { sent: string; times: number; play: Play; isPlan?: true }[] = [
  { sent: 'prompt at the terminal', times: 8, play: promptAtTerminal },
  { sent: 'prompt on the phone', times: 7, play: promptOnPhone },
  { sent: 'question, answered on the phone', times: 5, play: questionOnPhone },
  { sent: 'question, answered at the terminal', times: 5, play: questionAtTerminal },
  { sent: 'Esc before the first word', times: 5, play: escBeforeFirstWord },
  { sent: 'Esc before the first word, and a message waits', times: 5, play: escWhileMessageWaits },
  { sent: '429, refused twice', times: 5, play: retried(429) },
  { sent: '529, refused twice', times: 5, play: retried(529) },
  { sent: 'claude killed', times: 5, play: killed('claude') },
  { sent: 'wrapper killed', times: 5, play: killed('wrapper') },
  { sent: 'plan', times: 5, play: plan, isPlan: true }
]

async function promptAtTerminal(desk: Desk, name: string): Promise<Seen> {
  await desk.turn(() => desk.type(`hello ${name} desk`))
  const seen = await answered(desk, `you said: hello ${name} desk`)
  return isSaid(desk, `hello ${name} desk`) ? seen : { ...seen, phone: 'the prompt is missing' }
}

async function promptOnPhone(desk: Desk, name: string): Promise<Seen> {
  await desk.turn(() => desk.session.say(`hello ${name} phone`))
  return answered(desk, `you said: hello ${name} phone`)
}

async function questionOnPhone(desk: Desk, name: string): Promise<Seen> {
  const { session, terminal } = desk
  let question = ''
  await desk.turn(async () => {
    await session.say(`ask several ${name}`)
    const [id, request] = await asked(session)
    question = id
    await terminal.sees(/Enter to select/)
    const answers = { 'Which color?': { values: ['Blue'] }, 'Which animals?': { values: ['Cat'], other: 'an owl' } }
    await session.call('permission', { id, approved: true, shown: request.shown ?? '', answers })
  })
  return heard(desk, `ask several ${name}`, '"Which color?"="Blue", "Which animals?"="Cat, an owl"', question)
}

async function questionAtTerminal(desk: Desk, name: string): Promise<Seen> {
  const { session, terminal } = desk
  let question = ''
  await desk.turn(async () => {
    await session.say(`ask one ${name}`)
    question = (await asked(session))[0]
    await terminal.sees(/Enter to select/)
    // Right after its dialog has opened it takes no key.
    await pause(1_500)
    terminal.type('2')
  })
  const seen = await heard(desk, `ask one ${name}`, '"Which color?"="Blue"', question)
  const { answers } = session.state.completedRequests?.[question] ?? {}
  return JSON.stringify(answers)?.includes('Blue') ? seen : { ...seen, phone: 'the answer is missing' }
}

async function escBeforeFirstWord(desk: Desk, name: string): Promise<Seen> {
  const stopped = await escAtTerminal(desk, name, async () => {})
  clearLine(desk)
  await desk.turn(() => desk.session.say(`after ${name}`))
  const seen = await answered(desk, `you said: after ${name}`)
  return stopped === 'cancelled' ? seen : { ...seen, phone: `the stopped turn: ${stopped}` }
}

async function escWhileMessageWaits(desk: Desk, name: string): Promise<Seen> {
  const stopped = await desk.turn(() => escAtTerminal(desk, name, () => desk.session.say(`after ${name}`)), 2)
  const seen = await answered(desk, `you said: after ${name}`)
  // Not before: the message is typed into the same line.
  clearLine(desk)
  return stopped === 'cancelled' ? seen : { ...seen, phone: `the stopped turn: ${stopped}` }
}

/** Stopped before its first word, Claude Code puts the words back to where they were typed. */
function clearLine({ terminal }: Desk): void {
  terminal.type('\x15')
}

/** How its turn ended. */
async function escAtTerminal(
  { session, terminal, type }: Desk,
  name: string,
  meanwhile: () => Promise<unknown>
): Promise<string | undefined> {
  const from = session.events().length
  const since = () => session.events().slice(from)
  await type(`wait ${name}`)
  await session.until(() => since().some(({ t }) => t === 'turn-start'))
  await meanwhile()
  await terminal.sees(after(`wait ${name}`, 'esc to interrupt'))
  terminal.type('\x1b')
  await session.until(() => since().some(({ t }) => t === 'turn-end'))
  const end = since().find(({ t }) => t === 'turn-end')
  return end?.t === 'turn-end' ? end.status : undefined
}

function retried(status: number): Play {
  return async (desk, name) => {
    const { session, terminal } = desk
    const prompt = `fail ${status} 2 ${name}`
    const told = { terminal: false, phone: false }
    // What waits shows it as long as it does, and no longer.
    void terminal
      .sees(after(prompt, 'attempt'))
      .then(() => (told.terminal = true))
      .catch(() => {})
    void session.until(({ state }) => state.modelWait?.retry !== undefined).then(() => (told.phone = true))
    await desk.turn(() => session.say(prompt))
    const seen = await answered(desk, `you said: ${prompt}`)
    const isOver = session.state.modelWait === undefined
    return {
      terminal: told.terminal ? seen.terminal : 'no retry',
      phone: !told.phone ? 'no retry' : isOver ? seen.phone : 'still waits'
    }
  }
}

/** In the middle of its second answer, of which some is on the phone. */
function killed(victim: 'claude' | 'wrapper'): Play {
  return async (desk, name) => {
    const { session, terminal } = desk
    const from = session.events().length
    const since = () => session.events().slice(from)
    await session.say(`slow 3 12 ${name}`)
    // Without its wrapper Claude Code lives on for a moment, in which it writes the rest of the answer down: the next wrapper has to tell it.
    const latest = victim === 'claude' ? /2\.[2-9] / : /2\.1[0-2] /
    // What grows is shown a few times a second: of the last lines there may be none before all of it is told.
    const isFarEnough = (text: string) => text.includes(`${name} 2.`) && latest.test(text)
    await session.until(({ partials }) => partials.some(({ text }) => isFarEnough(text)) || texts(session).some(isFarEnough))
    if (victim === 'wrapper') terminal.kill('SIGKILL')
    else kill(below(terminal.pid, claude))
    await desk.resume()
    await session.until(() => since().some(({ t }) => t === 'turn-end'))
    const end = since().find(({ t }) => t === 'turn-end')
    const seen = await promptOnPhone(desk, `after-${name}`)
    const phone = victim === 'claude' ? leftOfClaude(since(), name) : leftOfWrapper(since(), name)
    // Its screen shows what it wrote down.
    const isShown = desk.terminal.screen.includes(`${name} 1.12`)
    const status = end?.t === 'turn-end' ? end.status : 'no end'
    return {
      terminal: isShown ? seen.terminal : 'the first answer is missing',
      phone: status === (victim === 'claude' ? 'failed' : 'cancelled') ? (phone ?? seen.phone) : `the killed turn: ${status}`
    }
  }
}

/** What is wrong with what is left of the answer in which it was killed: all that the phone had seen has to be there. */
function leftOfClaude(events: readonly SessionEvent[], name: string): string | undefined {
  const said = events.flatMap(event => (event.t === 'text' && event.text.includes(`${name} 2.`) ? event : []))
  if (said.length !== 1) return `the half answer ${said.length} times`
  return said[0]?.cut && said[0].text.includes(`${name} 2.2`) ? undefined : `of the half answer: ${said[0]?.text}`
}

/** It is known from what Claude Code wrote down: an answer is whole, or not there. */
function leftOfWrapper(events: readonly SessionEvent[], name: string): string | undefined {
  const said = events.flatMap(event => (event.t === 'text' && event.text.includes(`${name} 2.`) ? event : []))
  return said.length > 1 || said.some(({ cut, text }) => cut || !text.includes(`${name} 2.12`)) ? 'half an answer' : undefined
}

async function plan(desk: Desk, name: string): Promise<Seen> {
  const { session, terminal } = desk
  // At the terminal only its keys change the mode.
  for (let tries = 0; tries < 5 && session.metadata.currentOperatingModeCode !== 'plan'; tries++) {
    terminal.type('\x1b[Z')
    await pause(800)
    if (/plan mode on/.test(lastLines(terminal, 3))) break
  }
  let question = ''
  await desk.turn(async () => {
    await session.say(`plan ${name}`)
    const [id, request] = await asked(session)
    question = id
    await terminal.sees(/Would you like to proceed/)
    await session.call('permission', { id, approved: true, choice: 'default', shown: request.shown ?? '' })
  })
  return heard(desk, `plan ${name}`, 'approved your plan', question)
}

/** The answer of the model, on both sides and once. */
async function answered({ terminal, session }: Desk, answer: string): Promise<Seen> {
  await terminal.sees(new RegExp(inWords(answer)))
  const onScreen = terminal.screen.match(new RegExp(`${inWords(answer)}\\s`, 'g'))?.length ?? 0
  const times = texts(session).filter(text => text === answer).length
  return { terminal: onScreen === 1 ? 'seen' : `${onScreen} times`, phone: times === 1 ? 'seen' : `${times} times` }
}

/** What Claude was told of the answer of a person stands on both sides after the prompt, and nothing asks any more. */
async function heard({ terminal, session }: Desk, prompt: string, answer: string, question: string): Promise<Seen> {
  await terminal.sees(after(prompt, answer))
  const since = session.messages.findLastIndex(({ role, content }) => role === 'user' && content.text === prompt)
  const isHeard = since >= 0 && texts(session).slice(-2).join('\n').includes(answer)
  const { status } = session.state.completedRequests?.[question] ?? {}
  const isOpen = question in (session.state.requests ?? {})
  return {
    terminal: /Enter to select|Would you like to proceed/.test(lastLines(terminal, 20)) ? 'dialog still open' : 'seen',
    phone: isOpen ? 'card still open' : status !== 'approved' ? `the question: ${status}` : isHeard ? 'seen' : 'not heard'
  }
}

function isSaid({ session }: Desk, text: string): boolean {
  return session.messages.filter(({ role, content }) => role === 'user' && content.text === text).length === 1
}

async function asked(session: PhoneSession) {
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  const [request] = Object.entries(session.state.requests ?? {})
  if (!request) throw new Error('nothing is asked')
  return request
}

/** On the screen below where it stands first; the screen breaks lines between words. */
function after(prompt: string, text: string): RegExp {
  return new RegExp(`${inWords(prompt)}[^]*${inWords(text)}`)
}

function inWords(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+')
}

function lastLines({ screen }: PersonAtTerminal, count: number): string {
  return screen.trimEnd().split('\n').slice(-count).join('\n')
}

function kill(pids: readonly number[]): void {
  if (pids.length === 0) throw new Error('no claude runs')
  for (const pid of pids) process.kill(pid, 'SIGKILL')
}
