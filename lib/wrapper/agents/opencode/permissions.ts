import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { CannotStart } from '../../../exit.ts'
import * as v from '../../../schema.ts'

/**
 * Variables with which opencode asks before it changes or runs something: by default it asks for little.
 * The person's configuration takes precedence, be it yes, no or ask; so opencode is first asked for that.
 */
export async function withPermissionRules(
  program: string,
  directory: string,
  env: Readonly<Record<string, string>>
): Promise<Record<string, string>> {
  const own = readContent(env['OPENCODE_CONFIG_CONTENT'])
  const rules = missingRules(await readConfig(program, directory, env))
  const agents = { ...own.agent }
  for (const [name, permission] of Object.entries(rules)) {
    agents[name] = { ...agents[name], permission: { ...permission, ...objectOf(agents[name]?.permission) } }
  }
  return { ...env, OPENCODE_CONFIG_CONTENT: JSON.stringify({ ...own, agent: agents }) }
}

type Rules = Record<string, 'ask'>

const rules = v.fallback(v.optional(v.union([v.string(), v.record(v.string(), v.unknown())])), undefined)
const config = v.looseObject({
  permission: rules,
  agent: v.fallback(v.optional(v.record(v.string(), v.looseObject({ permission: rules }))), undefined),
  mcp: v.fallback(v.optional(v.record(v.string(), v.unknown())), undefined)
})
type Config = v.InferOutput<typeof config>

const running = ['bash', 'webfetch', 'websearch', 'codesearch']
const acting = ['edit', ...running]
// These may not edit, and cannot ask to.
const readers = new Set(['plan', 'explore'])
// opencode's own, which may do nothing.
const leftAlone = new Set(['title', 'summary', 'compaction'])

/** The missing rules, by agent. A rule for all agents, or for this one, is the person's decision. */
export function missingRules({ permission, agent = {}, mcp = {} }: Config): Record<string, Rules> {
  const servers = Object.keys(mcp).map(name => `${name.replace(/[^a-zA-Z0-9_-]/g, '_')}_*`)
  const names = ['build', 'general', ...readers, ...Object.keys(agent)].filter(name => !leftAlone.has(name))
  const entries = names.map((name): [string, Rules] => {
    const kinds = [...(readers.has(name) ? running : acting), ...servers]
    const missing = kinds.filter(kind => !decides(permission, kind) && !decides(agent[name]?.permission, kind))
    return [name, Object.fromEntries(missing.map(kind => [kind, 'ask']))]
  })
  return Object.fromEntries(entries.filter(([, missing]) => Object.keys(missing).length > 0))
}

function decides(rules: Config['permission'], kind: string): boolean {
  return typeof rules === 'string' || (rules !== undefined && (kind in rules || '*' in rules))
}

function objectOf(rules: Config['permission']): Record<string, unknown> {
  return typeof rules === 'object' ? rules : {}
}

const readWithinMs = 60_000
const mostBytes = 32 * 1024 * 1024

/** What a version does not report counts as nothing: then it asks. */
async function readConfig(program: string, cwd: string, env: Readonly<Record<string, string>>): Promise<Config> {
  try {
    const { stdout } = await promisify(execFile)(program, ['debug', 'config'], { cwd, env, timeout: readWithinMs, maxBuffer: mostBytes })
    return v.parse(config, JSON.parse(stdout))
  } catch {
    return {}
  }
}

function readContent(text: string | undefined): Config {
  try {
    return text ? v.parse(config, JSON.parse(text)) : {}
  } catch {
    throw new CannotStart('OPENCODE_CONFIG_CONTENT is not a JSON object. Fix it, or unset it.')
  }
}
