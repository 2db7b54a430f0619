import t from 'tap'
import type { AgentEvent } from '../../../../lib/wrapper/agents/agent.ts'
import { createSettings, modesAt } from '../../../../lib/wrapper/agents/codex/options.ts'
import type { Model, ThreadSettings } from '../../../../lib/wrapper/agents/codex/shapes.ts'

const effort = (reasoningEffort: string) => ({ reasoningEffort, description: undefined })
const models: Model[] = [
  {
    model: 'large',
    displayName: 'Large',
    description: 'Thinks',
    hidden: false,
    supportedReasoningEfforts: [effort('low'), effort('high')],
    defaultReasoningEffort: 'low'
  },
  {
    model: 'small',
    displayName: 'Small',
    description: undefined,
    hidden: false,
    supportedReasoningEfforts: [],
    defaultReasoningEffort: 'low'
  },
  {
    model: 'secret',
    displayName: 'Secret',
    description: undefined,
    hidden: true,
    supportedReasoningEfforts: [],
    defaultReasoningEffort: undefined
  }
]
const large = { id: 'large', name: 'Large', description: 'Thinks' }
const small = { id: 'small', name: 'Small', description: undefined }
const efforts = [
  { id: 'low', name: 'Low', description: undefined },
  { id: 'high', name: 'High', description: undefined }
]

t.test('a model is one of those that Codex has, and is reported once Codex has set it', async t => {
  const { settings, told, asked, refuse } = opened()
  t.equal(await settings.setModel('thread', 'unheard of'), false)
  t.strictSame(asked, [])
  refuse(true)
  t.equal(await settings.setModel('thread', 'small'), false)
  refuse(false)
  t.equal(await settings.setModel('thread', 'large'), true)
  t.strictSame(told, [], 'it was set already')
  t.equal(await settings.setModel('thread', 'small'), true)
  t.strictSame(told, [{ type: 'options', models: { current: 'small', available: [large, small] }, efforts: undefined }])
  t.strictSame(asked.at(-1), { threadId: 'thread', model: 'small' })
})

t.test('an effort is one of those of the model, and is reported once Codex has set it', async t => {
  const { settings, told, asked, refuse } = opened()
  t.equal(await settings.setEffort('thread', 'unheard of'), false)
  t.strictSame(asked, [])
  refuse(true)
  t.equal(await settings.setEffort('thread', 'high'), false)
  refuse(false)
  t.equal(await settings.setEffort('thread', 'high'), true)
  t.equal(await settings.setEffort('thread', 'high'), true)
  t.strictSame(told, [
    { type: 'options', models: { current: 'large', available: [large, small] }, efforts: { current: 'high', available: efforts } }
  ])
  t.strictSame(asked.at(-1), { threadId: 'thread', effort: 'high' })
  await settings.setModel('thread', 'small')
  t.equal(await settings.setEffort('thread', 'high'), false, 'this model has none')
})

t.test('the current model is shown even if Codex hides it or does not know it', t => {
  const available = (model: string) => {
    const { settings, told } = opened()
    settings.changed({ ...atTerminal, model })
    const last = told.at(-1)
    return last?.type === 'options' ? last.models : undefined
  }
  t.strictSame(available('secret'), {
    current: 'secret',
    available: [large, small, { id: 'secret', name: 'Secret', description: undefined }]
  })
  t.strictSame(available('older'), { current: 'older', available: [large, small, { id: 'older', name: 'older', description: undefined }] })
  const { settings, told } = opened()
  settings.began({ model: undefined, effort: undefined })
  t.strictSame(told.at(-1), { type: 'options', models: undefined, efforts: undefined })
  t.end()
})

t.test('a model whose level nobody knows offers none', t => {
  const told: AgentEvent[] = []
  const unknown = models.map(model => ({ ...model, defaultReasoningEffort: null }))
  const line = { request: async () => {} }
  createSettings({ emit: event => told.push(event), line, models: unknown, mode: 'default' }).began({ model: 'large', effort: undefined })
  t.strictSame(told.at(-1), { type: 'options', models: { current: 'large', available: [large, small] }, efforts: undefined })
  t.end()
})

t.test('what is set at the terminal is reported once, under a name of ours or one that says so', t => {
  const cases: [about: Partial<ThreadSettings>, mode: string, name: string][] = [
    [{}, 'default', 'Ask first'],
    [{ approvalPolicy: 'on-request', sandboxPolicy: { type: 'readOnly' } }, 'default', 'Ask first'],
    [{ approvalPolicy: 'on-request' }, 'acceptEdits', 'Edit freely'],
    [{ collaborationMode: { mode: 'plan' } }, 'plan', 'Plan only'],
    [{ approvalPolicy: 'never', sandboxPolicy: { type: 'dangerFullAccess' } }, 'bypassPermissions', 'Full auto'],
    [{ approvalPolicy: 'never' }, 'custom', 'As set at the terminal'],
    [{ approvalPolicy: 'never', sandboxPolicy: { type: 'readOnly' } }, 'custom', 'As set at the terminal'],
    [{ approvalsReviewer: undefined }, 'default', 'Ask first'],
    [{ approvalsReviewer: 'guardian' }, 'auto', 'A second model decides']
  ]
  for (const [about, mode, name] of cases) {
    const { settings, told } = opened('elsewhere')
    settings.changed({ ...atTerminal, ...about })
    settings.changed({ ...atTerminal, ...about })
    t.equal(settings.mode, mode)
    t.strictSame(told, [{ type: 'modes', modes: modesAt(mode) }])
    const { available } = modesAt(mode)
    t.equal(available.find(({ id }) => id === mode)?.name, name)
    t.equal(available.length, mode === 'custom' || mode === 'auto' ? 5 : 4)
    t.equal(available.filter(({ description }) => description).length, 4)
  }
  t.end()
})

t.test('a change of model or effort at the terminal is reported', t => {
  const { settings, told } = opened()
  settings.changed({ ...atTerminal, effort: 'high' })
  t.match(told, [{ type: 'options', efforts: { current: 'high' } }])
  settings.changed({ ...atTerminal, model: undefined, effort: undefined })
  t.match(told.slice(1), [{ type: 'options', models: { current: 'large' }, efforts: { current: 'low' } }])
  t.equal(told.length, 2)
  t.end()
})

t.test('each mode is set in the terms of Codex; an asking one more cautiously if Codex rejects these', async t => {
  const collaboration = (mode: string) => ({
    collaborationMode: { mode, settings: { model: 'large', reasoning_effort: 'low', developer_instructions: null } }
  })
  const common = { threadId: 'thread', approvalsReviewer: 'user' }
  const workspace = { type: 'workspaceWrite', writableRoots: [], networkAccess: false, excludeTmpdirEnvVar: false, excludeSlashTmp: false }
  const readOnly = { type: 'readOnly', networkAccess: false }
  const cautiously = { ...common, approvalPolicy: 'on-request', sandboxPolicy: readOnly, ...collaboration('default') }
  const full = { ...common, approvalPolicy: 'never', sandboxPolicy: { type: 'dangerFullAccess' }, ...collaboration('default') }
  const cases: [mode: string, first: object, second: object][] = [
    ['default', { ...common, approvalPolicy: 'untrusted', sandboxPolicy: workspace, ...collaboration('default') }, cautiously],
    [
      'acceptEdits',
      { ...common, approvalPolicy: 'on-request', sandboxPolicy: workspace, ...collaboration('default') },
      { ...common, approvalPolicy: 'on-request', sandboxPolicy: workspace, ...collaboration('default') }
    ],
    [
      'plan',
      { ...common, approvalPolicy: 'on-request', sandboxPolicy: readOnly, ...collaboration('plan') },
      { ...common, approvalPolicy: 'on-request', sandboxPolicy: readOnly, ...collaboration('plan') }
    ],
    ['bypassPermissions', full, full]
  ]
  for (const [mode, first, second] of cases) {
    const { settings, told, asked, refuse } = opened('elsewhere')
    refuse(true)
    t.equal(await settings.setMode('thread', mode), false, mode)
    t.strictSame(asked, [first, second], mode)
    t.strictSame(told, [], mode)
    refuse(false)
    t.equal(await settings.setMode('thread', mode), true, mode)
    t.equal(asked.length, 3, mode)
    t.strictSame(told, [{ type: 'modes', modes: modesAt(mode) }], mode)
  }
  const { settings, asked } = opened('custom')
  t.equal(await settings.setMode('thread', 'unheard of'), false)
  t.strictSame(asked, [])
  await settings.apply('thread')
  t.match(asked, [{ approvalPolicy: 'untrusted' }], 'a mode that is not ours asks first')
  settings.began({ model: undefined, effort: undefined })
  await settings.apply('thread')
  t.notOk('collaborationMode' in (asked[1] ?? {}), 'without a model it is left as it is')
})

const atTerminal: ThreadSettings = {
  approvalPolicy: 'untrusted',
  approvalsReviewer: 'user',
  model: 'large',
  sandboxPolicy: { type: 'workspaceWrite' },
  effort: 'low',
  collaborationMode: { mode: 'default' }
}

/** The settings of a thread with the large model, in this mode. */
function opened(mode = 'default') {
  const told: AgentEvent[] = []
  const asked: object[] = []
  let refuses = false
  const line = {
    async request(method: string, params: unknown) {
      asked.push(params as object)
      if (refuses || method !== 'thread/settings/update') throw new Error('No.')
    }
  }
  const settings = createSettings({ emit: event => told.push(event), line, models, mode })
  settings.began({ model: 'large', effort: 'low' })
  told.length = 0
  const refuse = (now: boolean) => {
    refuses = now
  }
  return { settings, told, asked, refuse }
}
