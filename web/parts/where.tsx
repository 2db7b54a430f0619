import type { ComponentChildren } from 'preact'
import { Icon } from '../icons/icon.tsx'
import type { SessionFacts } from '../state/session-facts.ts'

/** Where something would be done: the folder, its branch, the machine. */
export function Where({ facts: { branch, folder, host }, children }: { facts: SessionFacts; children?: ComponentChildren }) {
  return (
    <p class="where">
      <Icon name={branch === undefined ? 'folder' : 'folder-git-2'} />
      <b>{folder}</b>
      {branch !== undefined && <span>{branch}</span>}
      <Icon name="monitor" />
      <span>{host}</span>
      {children}
    </p>
  )
}
