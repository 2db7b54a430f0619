import { toBase64 } from '../../../crypto/bytes.ts'
import * as v from '../../../schema.ts'
import type { AgentCommand, AgentEvent, Image } from '../agent.ts'
import { newMessageId } from './history.ts'
import { type Chosen, createOptions, type OpencodeChoices } from './options.ts'
import { Refused } from './refusals.ts'
import type { OpencodeServer } from './server.ts'
import * as shapes from './shapes.ts'

type Server = Pick<OpencodeServer, 'get' | 'send'>

export async function newConversation(server: Server): Promise<string> {
  return v.parse(shapes.session, await server.send('POST', '/session', {})).id
}

export async function forkConversation(server: Server, conversation: string): Promise<string> {
  return v.parse(shapes.session, await server.send('POST', `/session/${conversation}/fork`, {})).id
}

/** Undefined if opencode has no such conversation. */
export async function historyOf(server: Server, conversation: string): Promise<shapes.History | undefined> {
  try {
    return await server.get(`/session/${encodeURIComponent(conversation)}/message`, shapes.history)
  } catch (error) {
    if (error instanceof Refused && (error.status === 404 || error.status === 400)) return undefined
    throw error
  }
}

export async function isIdleNow(server: Server, conversation: string): Promise<boolean> {
  const working = await server.get('/session/status', shapes.statuses)
  return (working[conversation]?.type ?? 'idle') === 'idle'
}

/** A person's open requests, in any conversation of this server. */
export interface Waiting {
  permissions: readonly shapes.PermissionRequest[]
  questions: readonly shapes.QuestionRequest[]
}

export async function waitingNow(server: Server): Promise<Waiting> {
  const [permissions, questions] = await Promise.all([
    server.get('/permission', shapes.permissions),
    server.get('/question', shapes.questions)
  ])
  return { permissions, questions }
}

export async function readOptions(server: Server, emit: (event: AgentEvent) => void): Promise<OpencodeChoices> {
  const [agents, providers, config] = await Promise.all([
    server.get('/agent', shapes.agents),
    server.get('/config/providers', shapes.providers),
    server.get('/config', shapes.config)
  ])
  const [provider, model] = Object.entries(providers.default)[0] ?? []
  const usual = provider === undefined ? undefined : `${provider}/${model}`
  return createOptions({ agents, providers, first: config.default_agent, model: config.model ?? usual, emit })
}

export async function commandsOf(server: Server): Promise<AgentCommand[]> {
  return (await server.get('/command', shapes.commandList)).map(({ name, description }) => ({ name, description }))
}

interface Saying {
  conversation: string
  text: string
  images: readonly Image[]
  chosen: Chosen
  commands: readonly string[]
}

/** Resolves when opencode has it, which it reports as a message of ours too. */
export async function say(server: Server, { conversation, text, images, chosen, commands }: Saying): Promise<void> {
  const messageID = newMessageId()
  const { agent, model, variant } = chosen
  const files = images.map(({ mimeType, bytes }) => ({ type: 'file', mime: mimeType, url: `data:${mimeType};base64,${toBase64(bytes)}` }))
  const [, command, words = ''] = /^\/(\S+)\s*([\s\S]*)$/.exec(text) ?? []
  const at = `/session/${conversation}`
  if (command === undefined || !commands.includes(command)) {
    await server.send('POST', `${at}/prompt_async`, { messageID, agent, model, variant, parts: [{ type: 'text', text }, ...files] })
    return
  }
  const named = model && `${model.providerID}/${model.modelID}`
  const body = { messageID, command, arguments: words, agent, variant, model: named, parts: files }
  // It responds when everything is done; errors are also reported as an event.
  void server.send('POST', `${at}/command`, body).catch(() => {})
}
