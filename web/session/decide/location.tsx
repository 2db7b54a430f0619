import type { ComponentChildren } from 'preact'
import type { SessionFacts } from '../../model/session/facts.ts'
import { escaped } from '../../ui/escaped.tsx'
import { Icon } from '../../ui/icons/icon.tsx'

/** Where something would run: the folder with its full path, its branch, the machine. */
export function Where({ facts, children }: { facts: SessionFacts; children?: ComponentChildren }) {
  const { branch, folder, host, path = folder } = facts
  const name = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1
  return (
    <p class="where">
      <Icon name={branch === undefined ? 'folder' : 'folder-git-2'} />
      <code>
        {escaped(path.slice(0, name))}
        <b>{escaped(path.slice(name))}</b>
      </code>
      {branch !== undefined && <span>{branch}</span>}
      <span>
        <Icon name="monitor" />
        {host}
      </span>
      {children}
    </p>
  )
}
