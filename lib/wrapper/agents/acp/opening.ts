import { type ClientConnection, methods, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk'
import { ZodError } from 'zod'
import { version } from '../../../assets.ts'
import { CannotStart } from '../../../exit.ts'
import type { StartAgent } from '../agent.ts'
import { type Initialized, initialized, type OpenedSession, openedSession } from './messages.ts'
import { explain } from './refusals.ts'

type Line = ClientConnection['agent']

/** Tells the agent who speaks, and hears what it can do. */
export async function sayHello(line: Line, title: string): Promise<Initialized> {
  const hello = initialized.parse(
    await line.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: { name: 'afield', version: version() },
      clientCapabilities: {
        fs: { readTextFile: false, writeTextFile: false },
        terminal: false,
        elicitation: { form: {}, url: {} },
        session: { compaction: {}, notices: {}, configOptions: { boolean: {} } }
      }
    })
  )
  if (hello.protocolVersion === PROTOCOL_VERSION) return hello
  throw new CannotStart(`${title} speaks version ${hello.protocolVersion} of ACP; this Afield speaks version ${PROTOCOL_VERSION}.`)
}

/** `isRepeated`: the agent told again what was said in it. `isUntold`: that shall be heard, if it can be. */
export async function openConversation(
  line: Line,
  title: string,
  { directory, resume, isUntold = false, more }: Pick<StartAgent, 'directory' | 'resume' | 'isUntold'> & { more?: object | undefined },
  { agentCapabilities }: Initialized
): Promise<{ opened: OpenedSession; isRepeated: boolean }> {
  const at = { cwd: directory, mcpServers: [], ...(more && { _meta: more }) }
  if (resume === undefined) return { opened: openedSession.parse(await line.request(methods.agent.session.new, at)), isRepeated: false }
  const known = { ...at, sessionId: resume }
  const canLoad = agentCapabilities?.loadSession ?? false
  const canResume = Boolean(agentCapabilities?.sessionCapabilities?.resume)
  // An agent that loads a conversation repeats it.
  if (canLoad && (isUntold || !canResume)) {
    const repeated = await line.request(methods.agent.session.load, known).catch(error => {
      // What was not heard stays unheard, and the conversation goes on.
      if (!canResume || !(error instanceof RequestError)) throw error
    })
    if (repeated !== undefined) return { opened: openedSession.parse(repeated), isRepeated: true }
  }
  if (!canResume) throw new CannotStart(`${title} cannot continue an earlier conversation.`)
  return { opened: openedSession.parse(await line.request(methods.agent.session.resume, known)), isRepeated: false }
}

/** The agent has no such conversation: most often one that it had, and whose program has ended. */
export function isGone(error: unknown): boolean {
  return error instanceof RequestError && error.code === notFound
}

export function isSignedOut(error: unknown): boolean {
  return error instanceof RequestError && error.code === signedOut
}

/** Why a program did not open a conversation, as a sentence about it. */
export function whyNotOpened(title: string, error: unknown, withinMs: number): string {
  if (isSignedOut(error)) {
    return `${title} wants you to sign in first: run it once by itself in this terminal.`
  }
  if (isGone(error)) return `${title} has no such conversation on this computer.`
  // A program that repeats what it reads, such as cat, hands back our own refusal of our question.
  if ((error instanceof RequestError && error.code === unknownMethod) || error instanceof ZodError) {
    return `${title} does not speak ACP on its standard input and output.`
  }
  if (error instanceof Error && error.name === 'DeadlineExceeded') {
    return `${title} did not answer within ${withinMs / 1000} s. Does this command speak ACP on its standard input and output?`
  }
  return `${title} did not start: ${explain(error)}`
}

const signedOut = -32000
const unknownMethod = -32601
const notFound = -32002
