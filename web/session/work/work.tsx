import type { SessionModel } from '../../model/session/session.ts'
import { WorkChanges } from './changes.tsx'
import { WorkFiles } from './files/files.tsx'
import type { WorkProps } from './frame.tsx'
import { WorkLog } from './log.tsx'

/** The folder of a session: changes, files, commits. `view` is the path after the session in the address. */
export function WorkScreen({ model, view, ...props }: WorkProps & { model: SessionModel; view: readonly string[] }) {
  const [name = 'changes', ...rest] = view
  switch (name) {
    case 'files':
      return <WorkFiles {...props} path={rest.join('/')} />
    case 'log':
      return <WorkLog {...props} commit={rest[0]} />
    default:
      return <WorkChanges {...props} path={rest.length === 0 ? undefined : rest.join('/')} />
  }
}
