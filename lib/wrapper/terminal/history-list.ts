import type { AgentHistory } from '../../protocol/sealed/machine-work.ts'
import { ago, tilde } from './session-list.ts'
import { fit, plain, type Style } from './style.ts'

/** Conversations of agents as a person picks one, with its number. */
export function drawHistories(histories: readonly AgentHistory[], now: number, style: Style, columns: number): string[] {
  const numberWidth = String(histories.length).length
  return histories.flatMap(({ agent, title, folder, at, openIn }, index) => {
    const room = columns - numberWidth - 5
    const about = `${agent} in ${tilde(folder)}, ${openIn ? 'open now' : ago(now - at)}`
    return [
      `  ${style.bold(String(index + 1).padStart(numberWidth))}  ${fit(plain(title), room)}`,
      `  ${' '.repeat(numberWidth)}  ${style.dim(fit(plain(about), room))}`
    ]
  })
}
