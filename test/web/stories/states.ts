import { noteRemoval } from '../../../web/model/account/removals.ts'
import type { SessionModel } from '../../../web/model/session/session.ts'
import { model } from './session-model.ts'
import { edited } from './transcripts.ts'

/** A session in a special state. */
export const states: Record<string, () => SessionModel> = {
  empty: () => model({ facts: { title: 'orchard-api' } }),
  opening: () => model({ feed: 'opening' }),
  'mode-asked': () => model({ transcript: edited().done(), choices: { mode: { code: 'plan', state: 'asking' } } }),
  'mode-refused': () => model({ transcript: edited().done(), choices: { mode: { code: 'plan', state: 'failed' } } }),
  away: () => model({ transcript: edited().done(), facts: { presence: 'away', host: 'thinkpad', activeAt: Date.now() - 3600_000 } }),
  ended: () => model({ transcript: edited().say('Done. The callback reads `returnTo` now.').end().done(), facts: { presence: 'ended' } }),
  'not-resumed': () =>
    model({
      transcript: edited().end().done(),
      facts: { presence: 'ended', canResume: true },
      asked: {
        resume: {
          type: 'failed',
          why: 'failed',
          says: 'Claude Code did not come up.\nnode:internal/modules/esm/resolve:275\n    throw new ERR_MODULE_NOT_FOUND(\n          ^\nError [ERR_MODULE_NOT_FOUND]: Cannot find module ‘/opt/claude/cli.js’\nNode.js v24.4.0'
        }
      }
    }),
  'info-compromised': () => model({ facts: { compromisedAt: Date.now() }, transcript: edited().end().done() }),
  'message-gone': () => model({ transcript: edited().end().done() }),
  info: () =>
    model({
      transcript: edited()
        .say('The tests are next.', {
          input_tokens: 1200,
          cache_read_input_tokens: 30_000,
          output_tokens: 340,
          cost: { amount: 0.4, currency: 'USD' }
        })
        .step({
          kind: 'execute',
          args: { command: 'npm test' },
          content: [
            {
              type: 'text',
              text: '40 of 212 tests\n41 of 212 tests, of which the slowest is uploads a picture of eight megabytes over a line that is cut twice, in 12.4 s'
            }
          ]
        })
        .done(),
      isWorking: true
    }),
  'mode-usage': () => {
    const inHours = (hours: number) => Date.now() + hours * 3600_000
    const windows = [
      { minutes: 300, usedPercent: 62, resetsAt: inHours(1.6), isReached: false },
      { minutes: 10080, usedPercent: 18, resetsAt: inHours(70), isReached: false },
      { minutes: 10080, of: 'Opus', usedPercent: 41, resetsAt: inHours(70), isReached: false }
    ]
    return model({ transcript: edited().end().done(), facts: { windows } })
  },
  'ended-killed': () =>
    model({ transcript: edited().end().done(), facts: { presence: 'ended', canResume: true, agentEnd: { code: 137 } } }),
  terminal: () => model({ transcript: edited().done(), facts: { isInTerminal: true } }),
  'model-refuses': () =>
    model({
      transcript: edited().done(),
      facts: {
        modelWait: {
          since: Date.now() - 9000,
          retry: { attempt: 3, of: 10, at: Date.now() + 5000, inMs: 5000, why: 'overloaded' }
        }
      },
      isWorking: true
    }),
  'model-silent': () => model({ transcript: edited().done(), facts: { modelWait: { since: Date.now() - 34_000 } }, isWorking: true }),
  'disk-full': () =>
    model({ transcript: edited().done(), facts: { diskTrouble: { since: Date.now() - 90_000, why: 'full' } }, isWorking: true }),
  stopping: () =>
    model({
      transcript: edited()
        .step({ kind: 'execute', args: { command: 'npm run watch' } })
        .done(),
      isWorking: true,
      asked: { stop: { at: Date.now() - 6000, state: 'asked' } }
    }),
  sealed: () => model({ facts: { isReadable: false, title: undefined } }),
  deleted: () => {
    noteRemoval({ id: 's1', at: Date.now() - 120_000, by: 'd2' })
    return model({ feed: 'deleted' })
  }
}
