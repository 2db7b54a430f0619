import t from 'tap'
import { choose, configOptions, sessionModes } from '../../../../lib/wrapper/agents/demo/options.ts'
import { type Deed, readScript } from '../../../../lib/wrapper/agents/demo/script.ts'

t.test('a prompt scripts any turn', t => {
  const say = (text: string, overMs = 0) => ({ type: 'say' as const, text, overMs })
  const cases: [script: string, deeds: Deed[]][] = [
    ['think hm; text I will; not more', [{ type: 'think', text: 'hm' }, say('I will; not more')]],
    ['hello', [say('hello')]],
    ['textile', [say('textile')]],
    ['slow 500 one two', [say('one two', 500)]],
    ['slow one two', [say('one two')]],
    ['many 3 line', [{ type: 'many', count: 3, text: 'line', everyMs: 0 }]],
    ['steady 20 3 line', [{ type: 'many', count: 3, text: 'line', everyMs: 20 }]],
    ['plan look | do it |done', [{ type: 'plan', steps: ['look', 'do it', 'done'] }]],
    ['ask', [{ type: 'ask', what: undefined }]],
    ['ask  Which color? ', [{ type: 'ask', what: 'Which color?' }]],
    ['look;; error;; die', [{ type: 'look' }, { type: 'fail' }, { type: 'die' }]],
    ['tool write {"path":"a.txt","lines":5}', [{ type: 'write', input: { path: 'a.txt', lines: '5' } }]],
    ['tool read', [{ type: 'read', input: {} }]],
    ['tool exec {"command":"a; b"}', [{ type: 'exec', input: { command: 'a; b' } }]],
    ['tool fly {}', [say('This script cannot be read: tool fly {}')]],
    ['tool read {', [say('This script cannot be read: tool read {')]],
    ['tool read 5', [say('This script cannot be read: tool read 5')]],
    ['tool read null', [say('This script cannot be read: tool read null')]],
    ['text one ENDSCRIPT text two', [say('one')]]
  ]
  for (const [script, deeds] of cases) t.strictSame(readScript(`Please. SCRIPT: ${script}`), deeds, script)
  t.strictSame(readScript('SCRIPT: text old SCRIPT: text new'), [say('new')], 'the last one')
  t.strictSame(readScript('SCRIPT: look'), [{ type: 'look' }])
  t.strictSame(readScript('SCRIPT: tool'), [say('This script cannot be read: tool ')])
  t.equal(readScript('no script: text'), undefined)
  t.end()
})

t.test('only what it offers can be chosen, and the level fits the model', t => {
  const choices = { mode: 'default', model: 'careful', effort: 'high' }
  const offered = () => configOptions(choices).map(option => ('options' in option ? option.options.length : 0))
  t.strictSame(offered(), [3, 2, 3])
  for (const [option, value] of [
    ['mode', 'fly'],
    ['model', 'fly'],
    ['effort', 'fly'],
    ['tone', 'dry'],
    ['mode', 5]
  ] as const)
    t.equal(choose(choices, option, value), false, `${option} ${value}`)
  t.strictSame(choices, { mode: 'default', model: 'careful', effort: 'high' })
  t.equal(choose(choices, 'model', 'quick'), true)
  t.strictSame(choices, { mode: 'default', model: 'quick', effort: 'medium' })
  t.strictSame(offered(), [3, 2, 2])
  t.equal(choose(choices, 'effort', 'high'), false)
  t.equal(choose(choices, 'effort', 'low'), true)
  t.equal(choose(choices, 'mode', 'plan'), true)
  t.strictSame(choices, { mode: 'plan', model: 'quick', effort: 'low' })
  t.match(sessionModes(choices), { currentModeId: 'plan', availableModes: [{ id: 'default' }, { id: 'acceptEdits' }, { id: 'plan' }] })
  t.end()
})
