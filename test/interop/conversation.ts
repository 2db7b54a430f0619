import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Computer } from './computer.ts'
import { happy, type Running } from './happy.ts'
import type { PhoneSession } from './memory.ts'
import type { Phone } from './phone.ts'
import type { Cut, Site } from './site.ts'
import type { Stage } from './steps.ts'
import { inTimeOrder, told } from './told.ts'

/** A session and the process of the CLI behind it. */
export type Talk = PhoneSession & { cli: Running; conversations: string }

export async function startAcp({ steps, folder }: Stage, computer: Computer, phone: Phone): Promise<Talk> {
  const project = join(folder, 'project')
  mkdirSync(project, { recursive: true })
  const known = new Set(phone.sessions.map(({ id }) => id))
  const cli = happy(computer, ['acp', 'scripted'], { cwd: project })
  const session = await steps.step('happy acp opens a session', () => phone.until(() => phone.sessions.find(({ id }) => !known.has(id))))
  assert.equal(session.metadata.path, project)
  await steps.step('the app sees it alive, with the modes of the agent', () =>
    phone.until(() => session.active && session.metadata.operatingModes?.length === 3)
  )
  return Object.assign(session, { cli, conversations: join(folder, 'conversations') })
}

export async function talk({ steps }: Stage, session: Talk, phone: Phone): Promise<void> {
  await steps.step('a prompt goes out, the answer comes back in order', async () => {
    await phone.send(session.id, 'SCRIPT: think hm; text Hello from the agent.')
    await turnEnds(phone, session, 'text Hello from the agent.')
    assert.deepEqual(told(session.said), [
      'user SCRIPT: think hm; text Hello from the agent.',
      'turn-start',
      'thinking hm',
      'text Hello from the agent.',
      'turn-end completed',
      'ready'
    ])
  })
  await steps.step('thirty prompts sent at once reach the agent once each', async () => {
    const prompts = Array.from({ length: 30 }, (_, n) => `prompt number ${n}.`)
    await Promise.all(prompts.map(prompt => phone.send(session.id, `SCRIPT: text ${prompt}`)))
    await phone.send(session.id, 'SCRIPT: text That was the last one.')
    await turnEnds(phone, session, 'text That was the last one.')
    for (const prompt of prompts) assert.equal(heardByAgent(session).split(prompt).length, 2, prompt)
  })
}

export async function decide({ steps }: Stage, session: Talk, phone: Phone): Promise<void> {
  const file = (name: string) => join(session.metadata.path, name)
  const write = (name: string) => `SCRIPT: tool write {"path":"${name}","content":"written"} ;; text ${name} is settled.`
  const asked = async (name: string) => {
    await phone.send(session.id, write(name))
    const [id, request] = await phone.until(() => Object.entries(session.agentState?.requests ?? {})[0])
    assert.match(JSON.stringify(request.arguments), new RegExp(name))
    assert.equal(existsSync(file(name)), false)
    return id
  }
  const settled = (id: string) => phone.until(() => session.agentState?.completedRequests?.[id]?.status)

  const first = await steps.step('the agent asks for permission', () => asked('yes.txt'))
  await steps.step('the phone allows it, and the file is there', async () => {
    await phone.call(session, 'permission', { id: first, approved: true, decision: 'approved' })
    assert.equal(await settled(first), 'approved')
    await turnEnds(phone, session, 'text yes.txt is settled.')
    assert.equal(readFileSync(file('yes.txt'), 'utf8'), 'written')
  })
  const second = await steps.step('it asks again', () => asked('no.txt'))
  await steps.step('the phone refuses, and there is no file', async () => {
    await phone.call(session, 'permission', { id: second, approved: false, decision: 'denied' })
    assert.equal(await settled(second), 'denied')
    await turnEnds(phone, session, 'text no.txt is settled.')
    assert.equal(existsSync(file('no.txt')), false)
  })
}

/** A turn is under way during each outage; all of it must be there in the end, in the order in which it was said. */
export async function cutOff({ steps }: Stage, session: Talk, phone: Phone, { cuts, cutUnderPrompts }: Site): Promise<void> {
  const words = Array.from({ length: 10 }, (_, n) => `word${n}`)
  for (const cut of cuts) {
    const before = session.said.length
    await steps.step(
      cut.name,
      async () => {
        await cut.prepare?.()
        await phone.send(session.id, `SCRIPT: ${words.map(word => `think thought of ${word}; slow 300 ${word}`).join('; ')}`)
        await phone.until(() => session.said.length > before + 3)
        await endure(cut, phone)
      },
      60_000
    )
    await steps.step('the CLI comes back by itself, and the turn is whole', async () => {
      const turn = () => session.said.slice(before)
      await phone.until(() => told(turn()).includes('ready'))
      const spoken = words.flatMap(word => [`thinking thought of ${word}`, `text ${word}`])
      assert.deepEqual(told(inTimeOrder(turn())).slice(1), ['turn-start', ...spoken, 'turn-end completed', 'ready'])
    })
    await steps.step('prompts work as before', async () => {
      await phone.send(session.id, `SCRIPT: text Still here after ${before}.`)
      await turnEnds(phone, session, `text Still here after ${before}.`)
    })
  }
  if (cutUnderPrompts) await steps.step(cutUnderPrompts.name, () => promptDuring(cutUnderPrompts, session, phone), 60_000)
}

async function promptDuring(cut: Cut, session: Talk, phone: Phone): Promise<void> {
  const prompts = Array.from({ length: 30 }, (_, n) => `prompt during the cut, ${n}.`)
  await cut.prepare?.()
  const sendAll = async () => {
    for (const prompt of prompts) await phone.send(session.id, `SCRIPT: text ${prompt}`)
  }
  await Promise.all([sendAll(), endure(cut, phone)])
  await phone.send(session.id, 'SCRIPT: text That was the last one during the cut.')
  await turnEnds(phone, session, 'text That was the last one during the cut.')
  for (const prompt of prompts) {
    assert.equal(told(session.said).filter(line => line === `user SCRIPT: text ${prompt}`).length, 1, `${prompt} is stored once`)
    // This CLI hands a message over twice if it arrives live while a page that contains it is on its way.
    assert.ok(heardByAgent(session).includes(prompt), `${prompt} has reached the agent`)
  }
}

async function endure(cut: Cut, phone: Phone): Promise<void> {
  const back = cut.isHeardByPhone ? phone.reconnected() : undefined
  await cut.run()
  await back
}

/** In this version of the CLI an abort during a prompt ends its process; what counts here is that the call gets through and the session does not look alive for long. */
export async function abortTurn(stage: Stage, computer: Computer, phone: Phone): Promise<void> {
  const isSecure = computer.server.startsWith('https:')
  const session = await startAcp(stage, computer, phone)
  await stage.steps.step('abort is answered in mid-turn', async () => {
    await phone.send(session.id, 'SCRIPT: slow 20000 a b c d e f g h i j k l m n o p q r s t u v w x y z')
    await phone.until(() => session.thinking)
    const answer = phone.call(session, 'abort', { reason: 'enough' })
    // Its last write may be lost with the process if it has to be encrypted for TLS.
    const outcome = await answer.catch((error: Error) => (isSecure ? error.message : Promise.reject(error)))
    assert.ok(outcome === null || outcome === 'abort: RPC target disconnected', String(outcome))
  })
  await stage.steps.step('the aborted CLI ends, and its session is seen as over', async () => {
    await session.cli.ended
    await phone.until(() => !session.active)
  })
}

/** The turn in which this was said is over: the CLI tells that it waits for the next prompt. */
export async function turnEnds(phone: Phone, session: PhoneSession, line: string): Promise<void> {
  await phone.until(() => {
    const lines = told(session.said)
    const at = lines.indexOf(line)
    return at >= 0 && lines.lastIndexOf('ready') > at
  })
}

/** What the scripted agent noted down of its prompts. */
function heardByAgent({ conversations }: Talk): string {
  return readdirSync(conversations)
    .flatMap(name => JSON.parse(readFileSync(join(conversations, name), 'utf8')).history)
    .map(({ sessionUpdate, content }) => (sessionUpdate === 'user_message_chunk' ? content.text : ''))
    .join('\n')
}
