import type { Life, MyAnswer } from '../../../web/model/decisions/answers.ts'
import { noteClosed } from '../../../web/model/decisions/closed-decisions.ts'
import type { SessionModel } from '../../../web/model/session/session.ts'
import { tell } from './fixtures.ts'
import { model } from './session-model.ts'
import { allowed, edited, force, run, waits } from './transcripts.ts'

/** The progress and outcome of an answer. */
export const answers: Record<string, () => SessionModel> = {
  sent: () => {
    const asked = run('p1', 'npm run build')
    return model({
      transcript: waits('npm run build'),
      requests: [asked],
      lives: [
        [
          'p1',
          {
            answer: { request: asked, verdict: { kind: 'once' }, at: Date.now(), state: { type: 'delivered' } },
            life: { type: 'delivered' }
          }
        ]
      ]
    })
  },
  refused: () => {
    const asked = run('p1', 'npm run build')
    return model({
      transcript: waits('npm run build'),
      requests: [asked],
      lives: [
        [
          'p1',
          {
            answer: { request: asked, verdict: { kind: 'once' }, at: Date.now(), state: { type: 'failed', why: 'away', says: '' } },
            life: { type: 'failed', why: 'away', says: '' }
          }
        ]
      ]
    })
  },
  elsewhere: () => {
    const asked = run('p1', 'npm run build')
    const life: Life = { type: 'elsewhere', answered: { ...allowed, id: 'p1', outcome: 'denied', by: 'Tablet' } }
    const ended: Life = { type: 'ended' }
    const answer: MyAnswer = { request: asked, verdict: { kind: 'once' }, at: Date.now(), state: { type: 'delivered' } }
    return model({
      transcript: edited().end().done(),
      facts: { presence: 'ended' },
      lives: [
        ['p1', { answer, life }],
        ['p2', { answer, life: ended }]
      ]
    })
  },
  'read-elsewhere': () => {
    const asked = run('p1', 'npm run build')
    noteClosed({
      session: 's1',
      asked: { type: 'permission', request: asked, id: 'p1', createdAt: asked.createdAt },
      at: Date.now(),
      beside: ['p2']
    })
    return model({
      transcript: waits('npm test'),
      isWorking: true,
      requests: [run('p2', 'npm test')],
      answered: [{ ...allowed, id: 'p1', outcome: 'allowed-once', by: 'Tablet', at: Date.now() }]
    })
  },
  'read-stopped': () => {
    const asked = run('p1', 'npm run build')
    noteClosed({
      session: 's1',
      asked: { type: 'permission', request: asked, id: 'p1', createdAt: asked.createdAt },
      at: Date.now(),
      beside: []
    })
    return model({ transcript: edited().end().done(), facts: { presence: 'ended' } })
  },
  'not-applied': () => {
    const asked = run('p1', 'npm run build')
    const answer: MyAnswer = { request: asked, verdict: { kind: 'once' }, at: Date.now(), state: { type: 'delivered' } }
    return model({
      transcript: edited().end().done(),
      facts: { presence: 'ended', canResume: true },
      lives: [['p1', { answer, life: { type: 'ended' } }]]
    })
  },
  queued: () => {
    const asked = run('p1', 'npm run build')
    const answer: MyAnswer = { request: asked, verdict: { kind: 'once' }, at: Date.now(), state: { type: 'queued' } }
    return model({
      transcript: waits('npm run build'),
      feed: 'stale',
      isOffline: true,
      requests: [asked],
      lives: [['p1', { answer, life: { type: 'queued' } }]]
    })
  },
  offline: () => model({ transcript: waits('npm run build'), feed: 'stale', isOffline: true, requests: [run('p1', 'npm run build')] }),
  'offline-risky': () => model({ transcript: waits(force), feed: 'stale', isOffline: true, requests: [run('p1', force)] }),
  stale: () => model({ transcript: edited().done(), feed: 'stale', requests: [run('p1', 'npm run build')] }),
  allowed: () => {
    const told = tell()
      .mine('Ship it.')
      .turn()
      .plan(['Build it', 'completed'], ['Publish it', 'in_progress'])
      .step({ call: 'push', kind: 'execute', args: { command: 'git push --force-with-lease origin main' } }, 4, {
        status: 'completed',
        content: [{ type: 'text', text: 'main -> main (forced update)\nexit code: 0' }]
      })
      .step({ call: 'wait1', kind: 'execute', args: { command: 'npm test' } })
      .done()
    const { at } = told.items[0] ?? { at: 0 }
    return model({
      transcript: told,
      isWorking: true,
      requests: [run('p3', 'npm test')],
      answered: [
        {
          ...allowed,
          id: 'p1',
          call: undefined,
          tool: 'ExitPlanMode',
          title: 'Ship 2.4.1 in three steps',
          outcome: 'allowed-once',
          at: at + 1
        },
        { ...allowed, id: 'p2', call: 'push', tool: 'Bash', outcome: 'allowed-once', at: at + 2 }
      ]
    })
  },
  ruled: () =>
    model({
      transcript: tell()
        .mine('Test it.')
        .turn()
        .step({ call: 'r1', kind: 'execute', args: { command: 'npm test' } }, 6, {
          status: 'failed',
          content: [{ type: 'text', text: '1 failed\nexit code: 1' }]
        })
        .step({ call: 'r2', kind: 'execute', args: { command: 'npm run lint' } }, 6, {
          status: 'failed',
          content: [{ type: 'text', text: '1 problem\nexit code: 1' }]
        })
        .done(),
      answered: [
        { ...allowed, id: 'q1', call: 'r1', outcome: 'allowed-once', by: undefined, rule: 'npm test' },
        { ...allowed, id: 'q2', call: 'r2', outcome: 'allowed-once', rule: 'npm run *' },
        {
          ...allowed,
          id: 'q3',
          call: undefined,
          title: 'Which store should hold refresh tokens?',
          said: { text: 'Redis, as for sessions' }
        }
      ]
    })
}
