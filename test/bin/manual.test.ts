import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { manualText } from '../../bin/manual.ts'
import { helpPages, readHelpPage } from '../../lib/help-pages.ts'
import { styleFor } from '../../lib/wrapper/terminal/style.ts'
import { runOnTerminal } from '../wrapper/kit/terminal.ts'
import { afield } from './kit/afield.ts'

const root = join(import.meta.dirname, '../..')
const style = styleFor({ isTTY: false }, {})
const pages = readdirSync(join(root, 'docs')).filter(name => name.endsWith('.md'))
/** A page as a file: next to the single-file program there are none. */
const asFile = new RegExp(`\\bdocs/|\\b(${pages.join('|').replaceAll('.', '\\.')})\\b|\\b(README|CONTRIBUTING|SECURITY)\\b`)

t.test('what the program prints names a page by the command that shows it, never by a file', t => {
  const sources = ['bin', 'lib'].flatMap(folder =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(name => join(folder, name))
  )
  const found = sources
    .filter(file => file.endsWith('.ts') && !file.startsWith(join('bin', 'packaging')) && file !== join('lib', 'help-pages.ts'))
    .flatMap(file =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .map((line, index) => ({ at: `${file}:${index + 1}`, text: line.replace(/^\s*(\/\/|\/?\*).*|\s\/\/ .*/, '') }))
    )
    .filter(({ text }) => asFile.test(text) && !/https:\/\/\S*docs\//.test(text))
  t.strictSame(found, [])
  t.end()
})

t.test('a page names the others by the commands that show them, and no file', t => {
  for (const page of helpPages) {
    const text = manualText(readHelpPage(page), { style, columns: Number.POSITIVE_INFINITY })
    const named = text.split('\n').filter(line => asFile.test(line.replace(/https?:\S+/g, '')))
    t.strictSame(named, [], page)
    const others = [...text.matchAll(/`node build\.mjs start help (\S+)`/g)].map(([, other]) => other)
    t.strictSame(
      others.filter(other => !helpPages.some(name => name === other)),
      [],
      page
    )
  }
  t.end()
})

t.test('a page is text for a terminal: paragraphs wrapped, tables as lists, and what is copied as it is', t => {
  const markdown = `# Ways

Words that are
wrapped again, see [the limits](limits.md#quotas), [https.md](https.md) and [elsewhere](api.md).

- **An item** of
  two lines

| you have | use |
| --- | --- |
| a \\| b | [this](#ways) |

| system | data | log |
| --- | --- | --- |
| Linux | \`/var\` | |

\`\`\`sh
| not | a table |
\`\`\`

    afield serve --data /a/path/that/is/longer/than/the/screen
`
  t.equal(
    manualText(markdown, { style, columns: 48 }),
    `Ways

Words that are wrapped again, see the limits
(\`node build.mjs start help limits\`), \`node
build.mjs start help https\` and elsewhere.

- An item of two lines

- a | b: this

- Linux
  data: \`/var\`

    | not | a table |

    afield serve --data /a/path/that/is/longer/than/the/screen
`
  )
  for (const page of helpPages) t.notMatch(manualText(readHelpPage(page), { style, columns: 80 }), /^\||\]\(|^```/m, page)
  t.end()
})

t.test('items stay apart, quotes and numbers too, and lines of code are never joined', t => {
  const markdown =
    '- one\n- two\n  goes on\n1. first\n2. second\n\nText\n\n```sh\none\ntwo\n```\n\n> a quote\nof two lines\n\n|x|yy|\n|-|-|\n|a|bc|\n'
  t.equal(
    manualText(markdown, { style, columns: 80 }),
    '- one\n- two goes on\n1. first\n2. second\n\nText\n\n    one\n    two\n\n> a quote of two lines\n\n- a: bc\n'
  )
  const bold = (text: string) => `<${text}>`
  t.equal(manualText('# Title\n\n**Bold** and', { style: { ...style, bold }, columns: 8 }), '<Title>\n\n<Bold>\nand\n')
  t.end()
})

t.test('afield help shows a page, and the options of a command', async t => {
  // A pager is for terminals only.
  const page = await afield(['help', 'https'], { PAGER: '/bin/true' })
  t.match(page, { status: 0, stderr: '', stdout: /^HTTPS\n\n/ })
  t.match((await afield(['help', 'sessions'])).stdout, /^afield sessions /)
  const all = (await afield(['--help'])).stdout
  for (const name of helpPages) t.match(all, name)
  t.match(await afield(['help', 'htps']), {
    status: 78,
    stdout: '',
    stderr: /^There is no command and no page htps\. Did you mean https\? /
  })
})

t.test('a page longer than the terminal is shown by the chosen pager, and printed where there is none', async t => {
  const folder = t.testdir()
  const pager = join(folder, 'pager')
  const got = join(folder, 'got')
  writeFileSync(pager, `#!/bin/sh\nprintf '%s|' "$@" "$LESS" "$LESSCHARSET" > "${got}"\nread -r first\necho "paged $first"\n`, {
    mode: 0o755
  })
  const help = (page: string, env: Record<string, string>) =>
    runOnTerminal(t, { home: folder, directory: folder, args: ['help', page], env: { LESS: '', NO_COLOR: '1', ...env } })

  const paged = help('https', { PAGER: `  ${pager} -a  -b `, LESS: 'X' })
  t.equal(await paged.ended, 0)
  t.equal(paged.screen.trim(), 'paged HTTPS', 'only by the pager, which may end before it has read everything')
  t.equal(readFileSync(got, 'utf8'), '-a|-b|X|utf-8|')

  const printed = help('https', { PAGER: join(folder, 'none') })
  t.equal(await printed.ended, 0)
  t.match(printed.screen, /^ *HTTPS$/m)

  const unstartable = join(folder, 'unstartable')
  writeFileSync(unstartable, '#!/nowhere/interpreter\n', { mode: 0o755 })
  const after = help('https', { PAGER: unstartable })
  t.equal(await after.ended, 0)
  t.match(after.screen, /^ *HTTPS$/m)
})
