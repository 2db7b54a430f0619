import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { missingRules, withPermissionRules } from '../../../../lib/wrapper/agents/opencode/permissions.ts'

const running = { bash: 'ask', webfetch: 'ask', websearch: 'ask', codesearch: 'ask' } as const
const acting = { edit: 'ask', ...running } as const
const all = { build: acting, general: acting, plan: running, explore: running }

t.test('each agent asks about all that its person did not decide, for it or for all', t => {
  const { bash: _, ...withoutBash } = acting
  const cases: [config: Parameters<typeof missingRules>[0], build: object | undefined, plan: object | undefined][] = [
    [{}, acting, running],
    [{ permission: 'allow' }, undefined, undefined],
    [{ permission: { '*': 'ask' } }, undefined, undefined],
    [{ permission: { bash: 'allow' } }, withoutBash, { webfetch: 'ask', websearch: 'ask', codesearch: 'ask' }],
    [{ permission: {} }, acting, running],
    [{ agent: { build: { permission: 'deny' } } }, undefined, running],
    [{ agent: { build: { permission: { '*': 'deny' } }, plan: { permission: {} } } }, undefined, running],
    [{ agent: { build: { permission: { bash: 'deny' } }, plan: {} } }, withoutBash, running]
  ]
  for (const [config, build, plan] of cases) {
    const rules = missingRules(config)
    t.strictSame([rules['build'], rules['plan']], [build, plan], JSON.stringify(config))
  }
  const own = missingRules({ agent: { mine: {}, title: {}, summary: {}, compaction: {} }, mcp: { 'my server': {}, 'b-2': {} } })
  const servers = { 'my_server_*': 'ask', 'b-2_*': 'ask' }
  t.strictSame(own, {
    build: { ...acting, ...servers },
    general: { ...acting, ...servers },
    plan: { ...running, ...servers },
    explore: { ...running, ...servers },
    mine: { ...acting, ...servers }
  })
  t.end()
})

t.test('the rules are added to what its person configured, which goes first', { skip: process.platform === 'win32' }, async t => {
  const rulesOf = (agents: Record<string, object>) =>
    Object.fromEntries(Object.entries(agents).map(([name, permission]) => [name, { permission }]))
  const cases: [name: string, own: object | undefined, reported: unknown, content: object][] = [
    ['nothing', undefined, {}, { agent: rulesOf(all) }],
    ['a version that reports nothing', undefined, 'nothing', { agent: rulesOf(all) }],
    [
      'something else',
      { theme: 'dark', agent: { poet: { model: 'm' } } },
      {},
      { theme: 'dark', agent: { poet: { model: 'm' }, ...rulesOf(all) } }
    ],
    ['everything', { permission: 'allow' }, { permission: 'allow' }, { permission: 'allow', agent: {} }],
    [
      'one agent',
      { agent: { build: { model: 'm', permission: { bash: 'deny' } } } },
      { agent: { general: { permission: 'allow' }, explore: { permission: 'allow' } } },
      {
        agent: {
          build: { model: 'm', permission: { ...acting, bash: 'deny' } },
          plan: { permission: running }
        }
      }
    ]
  ]
  for (const [name, own, reported, content] of cases) {
    const { program, directory } = opencode(t, `echo '${JSON.stringify(reported)}'`)
    const env = { PATH: process.env['PATH'] ?? '', KEPT: 'yes', ...(own && { OPENCODE_CONFIG_CONTENT: JSON.stringify(own) }) }
    const { OPENCODE_CONFIG_CONTENT = '', ...rest } = await withPermissionRules(program, directory, env)
    t.strictSame(JSON.parse(OPENCODE_CONFIG_CONTENT), content, name)
    t.strictSame(rest, { PATH: env.PATH, KEPT: 'yes' })
  }
})

t.test('it is asked in the folder and with the variables of the session', { skip: process.platform === 'win32' }, async t => {
  const { program, directory } = opencode(t, `[ -f opencode ] && echo '{ "permission": { "'$WHOSE'": "allow" } }'`)
  const { OPENCODE_CONFIG_CONTENT = '' } = await withPermissionRules(program, directory, { PATH: process.env['PATH'] ?? '', WHOSE: 'bash' })
  const { edit, webfetch, websearch, codesearch } = acting
  t.strictSame(JSON.parse(OPENCODE_CONFIG_CONTENT).agent.build.permission, { edit, webfetch, websearch, codesearch })
})

t.test('a configuration that cannot be read is not replaced', async t => {
  const message = 'OPENCODE_CONFIG_CONTENT is not a JSON object. Fix it, or unset it.'
  for (const content of ['{', '5', '"text"', 'null'])
    await t.rejects(withPermissionRules('opencode', '/', { OPENCODE_CONFIG_CONTENT: content }), { name: 'CannotStart', message }, content)
})

/** An opencode whose configuration is what a shell prints. */
function opencode(t: Test, print: string) {
  const directory = t.testdir()
  const program = join(directory, 'opencode')
  writeFileSync(program, `#!/bin/sh\n[ "$*" = 'debug config' ] || exit 1\n${print}\n`)
  chmodSync(program, 0o755)
  return { program, directory }
}
