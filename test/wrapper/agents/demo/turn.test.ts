import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentContext } from '@agentclientprotocol/sdk'
import t from 'tap'
import { firstChoices } from '../../../../lib/wrapper/agents/demo/options.ts'
import { runTurn } from '../../../../lib/wrapper/agents/demo/turn.ts'

const answers = [
  { optionId: 'allow', writes: true },
  { optionId: 'always', writes: true },
  { optionId: 'reject', writes: false },
  // What the published `happy` CLI answers for a refusal, whatever was offered.
  { optionId: 'cancel', writes: false }
]

for (const { optionId, writes } of answers) {
  t.test(`the answer "${optionId}" ${writes ? 'lets' : 'does not let'} the demo agent write`, async t => {
    const directory = t.testdir()
    const client = {
      notify: async () => {},
      request: async () => ({ outcome: { outcome: 'selected', optionId } })
    } as unknown as AgentContext
    const session = { id: 'demo', directory, mode: 'default', ...firstChoices, history: [] }

    const prompt = 'SCRIPT: tool write {"path":"a.txt","content":"hi"}'
    await runTurn({ session, client, prompt, images: undefined, note() {}, canAsk: false, signal: new AbortController().signal })

    t.equal(existsSync(join(directory, 'a.txt')), writes)
  })
}

t.test('a denied change ends the rest of a plan; without a plan the script goes on', async t => {
  const write = 'tool write {"path":"a.txt","content":"hi"}; text the rest'
  const saidAfter = async (script: string) => {
    const client = {
      notify: async () => {},
      request: async () => ({ outcome: { outcome: 'selected', optionId: 'reject' } })
    } as unknown as AgentContext
    const session = { id: 'demo', directory: t.testdir(), mode: 'default', ...firstChoices, history: [] }
    const said: string[] = []
    const note: Parameters<typeof runTurn>[0]['note'] = update => {
      if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text') said.push(update.content.text)
    }
    await runTurn({
      session,
      client,
      prompt: `SCRIPT: ${script}`,
      images: undefined,
      note,
      canAsk: false,
      signal: new AbortController().signal
    })
    return said.join('')
  }
  t.equal(await saidAfter(write), 'the rest')
  t.equal(await saidAfter(`plan write | tell; ${write}`), '')
})
