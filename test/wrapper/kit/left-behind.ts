import { readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { newUserText, sealDraft } from '../../../lib/client/sealed/messages.ts'
import { cryptoReady, dataKeyCipher, engine, fromBase64, toBase64 } from '../../../lib/crypto/index.ts'
import { openHome } from '../../../lib/wrapper/home/credentials.ts'
import { createSessionFolder, type SessionFolder } from '../../../lib/wrapper/home/session-folder.ts'
import { startServer } from '../../kit/server.ts'
import { linkedComputer } from './world.ts'

/** A linked computer with the folder of one session of the demo agent, which does not run. */
export async function computerWithSession(t: Test) {
  await cryptoReady()
  const server = await startServer(t)
  const { phone, home } = await linkedComputer(t, server)
  const { machineId } = openHome({ AFIELD_HOME: home })
  const make = (tag: string) =>
    createSessionFolder(home, {
      tag,
      server: server.url,
      program: { kind: 'demo' },
      key: toBase64(engine.randomBytes(32)),
      metadata: { path: home, host: 'here', machineId, agentTitle: 'Demo agent' } as never,
      cursor: 0,
      turn: 'left open'
    })
  return { server, phone, home, folder: make('left'), another: () => make('another') }
}

/** As if its process had been killed with this in its journal, each under the name of its text. */
export async function leaveBehind(home: string, folder: SessionFolder, ...texts: string[]): Promise<void> {
  const key = fromBase64(folder.notes.key ?? '')
  if (!key) throw new Error('the session has no key')
  const journal = folder.openJournal()
  await journal.load()
  await journal.append(texts.map(text => sealDraft(dataKeyCipher(key), folder.notes.tag, newUserText(text, { sentFrom: 'cli' }), text)))
  await journal.close()
  const sessions = join(home, 'sessions')
  for (const name of readdirSync(sessions)) renameSync(join(sessions, name), join(sessions, name.replace(/@.*/, '@999999999-1')))
}
