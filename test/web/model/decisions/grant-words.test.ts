import t from 'tap'
import type { Grants } from '../../../../lib/protocol/sealed/decisions/grants.ts'
import type { Verdict } from '../../../../web/model/decisions/answers.ts'
import { brief, lastingWords } from '../../../../web/model/decisions/grant-words.ts'
import { session as zh } from '../../../../web/words/zh/session.ts'

const choice = { id: 'always', label: 'Yes, and more', kind: 'allow_always' as const }
const granting = (grants: Grants): Verdict => ({ kind: 'session', choice: { ...choice, grants } })

t.test('the button for a longer yes says what the agent will do from then on', t => {
  const cases: [Verdict, string][] = [
    [granting({ lasts: 'session', what: [{ type: 'edits', of: [] }] }), 'Allow all edits this session'],
    [granting({ lasts: 'session', what: [{ type: 'files', of: [] }] }), 'Allow edits to these files this session'],
    [granting({ lasts: 'always', what: [{ type: 'commands', of: ['npm run *'] }] }), 'Always allow npm run *'],
    [
      granting({
        lasts: 'session',
        what: [
          { type: 'folders', of: ['/tmp'] },
          { type: 'tools', of: ['WebSearch'] }
        ]
      }),
      'Allow work in /tmp, WebSearch this session'
    ],
    [{ kind: 'session', choice }, 'Yes, and more'],
    [{ kind: 'session', choice, rule: { on: 'command', pattern: 'ls', folder: '/' } }, 'Allow this session'],
    [{ kind: 'session' }, 'Allow this session']
  ]
  for (const [verdict, says] of cases) t.equal(lastingWords(verdict), says)
  t.equal(zh.grants.allow.session(zh.grants.edits), '本次会话中允许所有编辑')
  t.equal(brief(`Always allow ${'x'.repeat(100)}`).length, 48)
  t.end()
})
