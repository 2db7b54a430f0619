import type { Test } from 'tap'
import { openSessions } from '../../../lib/wrapper/agents/demo/sessions.ts'
import { startServer } from '../../kit/server.ts'
import type { PhoneSession } from './phone.ts'
import { linkedComputer } from './world.ts'
import { runWrapper } from './wrapper.ts'

/** A server, a phone, and a computer linked to its account on which `afield demo` runs. */
export async function demo(t: Test, args: string[] = []) {
  const server = await startServer(t)
  const { phone, home } = await linkedComputer(t, server)
  const wrapper = runWrapper(t, { home, args: ['demo', ...args] })
  return { server, phone, home, wrapper, session: await phone.session() }
}

export function turnsEnded({ events }: Pick<PhoneSession, 'events'>): number {
  return events().filter(({ t }) => t === 'turn-end').length
}

export function texts({ events }: Pick<PhoneSession, 'events'>): string[] {
  return events().flatMap(event => (event.t === 'text' ? event.text : []))
}

/** What people and the demo agent said, as it has it in the folder where it keeps its conversations. */
export function writtenByDemo(folder: string, conversation: string): string[] {
  return openSessions(folder)
    .find(conversation)
    .history.flatMap(update => {
      if (update.sessionUpdate !== 'user_message_chunk' && update.sessionUpdate !== 'agent_message_chunk') return []
      const who = update.sessionUpdate === 'user_message_chunk' ? 'user' : 'assistant'
      return update.content.type === 'text' ? `${who}: ${update.content.text}` : []
    })
}
