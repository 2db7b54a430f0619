import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSocket } from '../lib/client/link/socket.ts'
import { sealDraft, sealPartial } from '../lib/client/sealed/messages.ts'
import { createServer } from '../lib/server/create.ts'
import type { Step } from '../lib/wrapper/agents/agent.ts'
import { createNarrator } from '../lib/wrapper/session/output/narrator.ts'
import { startHeartbeat } from '../lib/wrapper/uplink/live.ts'
import { fillSession } from '../test/kit/long-session.ts'
import { manualClock } from '../test/kit/manual-clock.ts'
import { openRawSocket } from './kit/raw-socket.ts'

/**
 * The bytes that a watching phone receives in an hour of a working agent: 40 turns of thinking, eight steps with a
 * few words before each, and an answer, one of them of 20,000 characters. The hour passes on a manual clock.
 */
const turns = 40
const turnMs = 90_000
const steps = 8
const wordsBefore = 150
const thought = 600
const answer = 1_200
const longAnswer = 20_000
const outputBytes = 1_500
const charactersAtOnce = 28
const everyMs = 100

const sentence = 'The apples of the third tree fell because nobody had told the script about the wind. '
const kinds = ['partial', 'new-message', 'activity'] as const

const data = mkdtempSync(join(tmpdir(), 'afield-bench-'))
const server = await createServer({ port: 0, data, signup: 'open', limits: 'off', logLevel: 'silent', expoUrl: 'off' })
const { id, cipher, token, rest } = await fillSession(server.url, 0)
const socket = openSocket({ server: server.url, token, scope: { as: 'session', id }, WebSocket })
while (socket.state.type !== 'live') await new Promise(resolve => setImmediate(resolve))

const bytes = new Map<string, number>()
const phone = await openRawSocket({
  port: Number(new URL(server.url).port),
  auth: { token, clientType: 'user-scoped', partials: true },
  onPacket(packet) {
    const kind = kinds.find(kind => packet.includes(`"${kind}"`)) ?? 'other'
    bytes.set(kind, (bytes.get(kind) ?? 0) + packet.length)
  }
})

const clock = manualClock()
let said = 0
let isWorking = false
let signsSent = 0
const signs = startHeartbeat({
  clock,
  isWorking: () => isWorking,
  send() {
    signsSent++
    socket.send('session-alive', { sid: id, time: Date.now(), thinking: isWorking })
  }
})
const narrator = createNarrator({
  async put(body, localId) {
    const { content, ...draft } = sealDraft(cipher, id, body, localId)
    await rest.call('appendMessages', { params: { id }, body: { messages: [{ localId: draft.localId, content }] } })
  },
  showPartial: frame => socket.send('partial', { sid: id, partial: sealPartial(cipher, frame) }),
  clock
})

for (let turn = 0; turn < turns; turn++) {
  const beganAt = clock.now()
  isWorking = true
  signs.tell()
  await narrator.beginTurn()
  await say(thought, true)
  for (let step = 0; step < steps; step++) {
    await say(wordsBefore)
    await runStep(`${turn} ${step}`)
  }
  await say(turn === 0 ? longAnswer : answer)
  await narrator.tell({ type: 'turn-ended', reason: 'done' })
  isWorking = false
  signs.tell()
  await pass(Math.max(0, beganAt + turnMs - clock.now()))
}
// The last request is answered after everything before it has arrived.
await socket.request('ping', {})
await rest.call('readMessages', { params: { id }, query: {} })

const mb = (count: number) => `${(count / 1e6).toFixed(2)} MB`
const all = [...bytes.values()].reduce((sum, count) => sum + count, 0)
console.log(`phone: an hour of an agent that says ${mb(said)} in ${turns} turns with ${turns * steps} steps`)
console.log(`  while the text grows   ${mb(bytes.get('partial') ?? 0)}, ${((bytes.get('partial') ?? 0) / said).toFixed(1)} times the text`)
console.log(`  messages               ${mb(bytes.get('new-message') ?? 0)}`)
console.log(`  signs of life          ${mb(bytes.get('activity') ?? 0)}`)
console.log(`  all                    ${mb(all)}`)
signs.close()
phone.close()
socket.close()
await server.close()
rmSync(data, { recursive: true, force: true })

async function say(characters: number, thinking = false): Promise<void> {
  const block = `block ${said}`
  const text = sentence.repeat(Math.ceil(characters / sentence.length)).slice(0, characters)
  said += characters
  for (let end = charactersAtOnce; end < characters; end += charactersAtOnce) {
    await narrator.tell({ type: 'text-grew', block, text: text.slice(0, end), thinking })
    await pass(everyMs)
  }
  await narrator.tell({ type: 'text', block, text, thinking })
}

async function runStep(call: string): Promise<void> {
  const step: Step = { call, name: 'Bash', title: 'npm test', kind: 'execute', input: { command: 'npm test' }, locations: [], content: [] }
  await narrator.tell({ type: 'step-started', step })
  await narrator.showStep(step)
  await pass(2_000)
  const text = 'ok 1 - the apples are counted\n'.repeat(outputBytes / 30)
  await narrator.tell({ type: 'step-ended', step: { ...step, content: [{ type: 'text', text }] }, status: 'completed' })
}

async function pass(ms: number): Promise<void> {
  const before = signsSent
  clock.advance(ms)
  if (signsSent > before) await new Promise(resolve => setImmediate(resolve))
}
