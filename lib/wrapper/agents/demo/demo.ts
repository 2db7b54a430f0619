import { join } from 'node:path'
import { ownProgram } from '../../home/own-process.ts'
import { startAcp } from '../acp/acp.ts'
import type { AgentKind } from '../agent.ts'

/** The scripted agent that is part of Afield, in its own process like every other agent. */
export function demoKind(home: string): AgentKind {
  const title = 'Demo agent'
  return {
    flavor: 'acp',
    title,
    program: { kind: 'demo' },
    start: how => startAcp({ ...ownProgram(['demo-agent', join(home, 'demo-conversations')]), title, isHeardAgain: true }, how)
  }
}
