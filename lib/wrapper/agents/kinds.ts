import { basename } from 'node:path'
import type { AgentProgram } from '../home/session-notes.ts'
import { startAcp } from './acp/acp.ts'
import type { AgentKind } from './agent.ts'
import { type ClaudeOptions, claudeKind } from './claude/claude.ts'
import { codexKind } from './codex/codex.ts'
import { demoKind } from './demo/demo.ts'
import { opencodeKind } from './opencode/opencode.ts'

/** The kind that starts a program stored with a session. */
export function kindOf(program: AgentProgram, options: ClaudeOptions): AgentKind {
  switch (program.kind) {
    case 'claude':
      return claudeKind(options)
    case 'codex':
      return codexKind(options)
    case 'demo':
      return demoKind(options.home)
    case 'opencode':
      return opencodeKind(options)
    case 'acp':
      return acpKind(program.command, program.args)
  }
}

/** Any command that speaks ACP; known agents are recognized by their program name. */
export function acpKind(command: string, args: readonly string[]): AgentKind {
  const program = basename(command).replace(/\.(exe|cmd|js|mjs)$/i, '')
  const known = knownAgents.find(({ pattern }) => pattern.test([program, ...args.map(arg => basename(arg))].join(' ')))
  const title = known?.title ?? program
  return {
    flavor: known?.flavor ?? 'acp',
    title,
    program: { kind: 'acp', command, args: [...args] },
    start: how => startAcp({ command, args, title, isHeardAgain: true }, how)
  }
}

// The flavors are those that existing apps know.
const knownAgents = [
  { pattern: /\bclaude\b/, flavor: 'claude', title: 'Claude Code' },
  { pattern: /\bcodex\b/, flavor: 'codex', title: 'Codex' },
  { pattern: /\bgemini\b/, flavor: 'gemini', title: 'Gemini' },
  { pattern: /\bopencode\b/, flavor: 'opencode', title: 'opencode' },
  { pattern: /\bqwen\b/, flavor: 'acp', title: 'Qwen Code' },
  { pattern: /\bgoose\b/, flavor: 'acp', title: 'Goose' }
]
