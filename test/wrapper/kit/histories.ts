import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A conversation that Codex wrote down, about a hedge. */
export function writeCodex(codex: string, cwd: string, id: string, at: number): void {
  const folder = join(codex, 'sessions', '2026', '01', '02')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `rollout-2026-01-02T03-04-05-${id}.jsonl`)
  const rows = [
    { type: 'session_meta', payload: { id, cwd } },
    { type: 'event_msg', payload: { type: 'user_message', message: 'Prune the hedge' } },
    { type: 'event_msg', payload: { type: 'agent_message', message: 'Pruned with care.' } }
  ]
  writeFileSync(file, rows.map(row => `${JSON.stringify({ timestamp: new Date(at).toISOString(), ...row })}\n`).join(''))
  utimesSync(file, at / 1000, at / 1000)
}
