import t from 'tap'
import { byFolder, isInCopy, projectOf, titleOf } from '../../../web/model/sessions.ts'
import type { SessionView } from '../../../web/model/store.ts'

const worktree = {
  path: '/home/mira/.afield/worktrees/orchard/fix-the-login',
  branch: 'afield/fix-the-login',
  repository: '/home/mira/work/orchard',
  base: 'c0ffee'
}
const of = (path: string) => ({ path, host: 'studio' })

t.test('a session in a copy has the name of its project, wherever the copy is and whoever created it', async t => {
  const table: [metadata: Parameters<typeof projectOf>[0], name: string, isCopy: boolean][] = [
    [{ path: worktree.path, worktree }, 'orchard', true],
    [{ path: `${worktree.path}/packages/api`, worktree }, 'api', true],
    [{ path: `${worktree.path}-2`, worktree }, 'fix-the-login-2', false],
    [of('/home/mira/work/orchard'), 'orchard', false],
    [of('/home/mira/work/orchard/.claude/worktrees/quick-fox'), 'orchard', true],
    [of('/home/mira/work/orchard/.dev/worktree/quick-fox/api'), 'api', true],
    [of('C:\\work\\orchard\\.claude\\worktrees\\quick-fox'), 'orchard', true],
    [of('/home/mira/.claude/worktrees'), 'worktrees', false]
  ]
  for (const [metadata, name, isCopy] of table) {
    t.equal(projectOf(metadata), name, metadata.path)
    t.equal(isInCopy(metadata), isCopy, metadata.path)
  }
  t.equal(titleOf({ metadata: { path: worktree.path, host: 'studio', worktree } }), 'orchard', 'until it has a title')
})

t.test('sessions in copies of a project are grouped with those in it', async t => {
  const places = [of(worktree.repository), { ...of(worktree.path), worktree }, of('/home/mira/work/meadow')]
  const groups = byFolder(places.map((metadata, index) => ({ id: String(index), metadata }) as unknown as SessionView))
  t.same(
    groups.map(({ folder, sessions }) => [folder, sessions.length]),
    [
      ['orchard', 2],
      ['meadow', 1]
    ]
  )
})
