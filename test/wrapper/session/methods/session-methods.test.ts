import t from 'tap'
import { sessionMethods } from '../../../../lib/wrapper/session/methods/session-methods.ts'

t.test('the reason of a no reaches the agent once: before a no, but after one that also stops its turn', async t => {
  const done: string[] = []
  const whyNot = { title: 'rm -rf build', reason: 'I need it' }
  // Only the members that an answer uses.
  const parts = Object.assign(Object.create(null), {
    agent: {
      answer: (_: string, choice: string, reason: string | undefined) => done.push(`${choice}, ${reason}`),
      cancel: async () => done.push('cancelled')
    },
    requests: { answer: ({ id }: { id: string }) => ({ choice: 'no', stops: id === 'stopping', whyNot }) },
    onChange() {}
  })
  const turns = {
    explain: async ({ reason }: { reason: string }, { stops }: { stops: boolean }) => void done.push(`explained ${reason}, ${stops}`)
  }
  const { permission } = sessionMethods(parts, Object.assign(Object.create(null), { turns, home: { path: t.testdir() }, env: {} }))

  await permission?.({ id: 'plain', approved: false }, undefined as never)
  t.same(done.splice(0), ['explained I need it, false', 'no, I need it'])
  await permission?.({ id: 'stopping', approved: false }, undefined as never)
  t.same(done, ['no, undefined', 'explained I need it, true', 'cancelled'])
})

t.test('an answer that stops the turn is done once the agent has stopped, and the mode is set after it', async t => {
  const done: string[] = []
  const stopped = Promise.withResolvers<void>()
  const parts = Object.assign(Object.create(null), {
    agent: {
      answer: () => done.push('answered'),
      cancel: () => stopped.promise.then(() => done.push('stopped')),
      setMode: async (mode: string) => done.push(mode)
    },
    requests: { answer: () => ({ choice: 'no', stops: true }) },
    onChange: () => done.push('shown')
  })
  const { permission } = sessionMethods(parts, Object.assign(Object.create(null), { home: { path: t.testdir() }, env: {} }))
  const answering = permission?.({ id: 'q', approved: false, mode: 'plan' }, undefined as never)
  await new Promise(setImmediate)
  t.same(done, ['answered', 'shown'])
  stopped.resolve()
  await answering
  t.same(done, ['answered', 'shown', 'stopped', 'plan'])
  stopped.promise = Promise.reject(new Error('it has died'))
  await t.rejects(async () => permission?.({ id: 'q', approved: false }, undefined as never), /it has died/)
})
