import t from 'tap'
import { startable } from '../../../lib/wrapper/agents/windows-script.ts'

const script = 'C:\\Users\\Ann B\\AppData\\Roaming\\npm\\gemini.cmd'

t.test('what npm installs on Windows is started by its shell, with words that it takes as they are', async t => {
  t.strictSame(startable(script, ['--acp', 'C:\\code\\a.json'], 'win32'), {
    command: `"${script}"`,
    args: ['--acp', 'C:\\code\\a.json'],
    shell: true
  })
  for (const odd of ['a&calc', 'two words', '"', '%PATH%', '^', '', 'a|b', '$(x)', 'a\nb'])
    t.throws(() => startable(script, ['--acp', odd], 'win32'), /gemini\.cmd cannot be started on Windows with/, odd)
})

t.test('a program is started without a shell, and so is everything elsewhere', async t => {
  t.strictSame(startable('C:\\claude.exe', ['a&b'], 'win32'), { command: 'C:\\claude.exe', args: ['a&b'], shell: false })
  t.strictSame(startable('/bin/odd.cmd', ['a&b'], 'linux'), { command: '/bin/odd.cmd', args: ['a&b'], shell: false })
})
