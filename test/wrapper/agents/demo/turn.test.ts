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
