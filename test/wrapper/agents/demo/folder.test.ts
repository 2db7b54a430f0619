import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openDemoFolder } from '../../../../lib/wrapper/agents/demo/folder.ts'

t.test('the folder of the demo is a repository of its own, in which the changes of the agent show', async t => {
  // Of a person whose settings would let a commit fail, in a folder that belongs to another repository.
  const settings = '[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = /nowhere\n[user]\n\tname = Mira\n\tuseConfigOnly = true\n'
  const person = t.testdir({ home: { '.gitconfig': settings }, afield: {} })
  const env = { ...process.env, HOME: join(person, 'home'), GIT_DIR: join(person, 'other') }
  const folder = openDemoFolder(join(person, 'afield'), env)
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim()
  t.equal(git('rev-parse', '--show-toplevel'), folder)
  t.equal(git('log', '--format=%an <%ae> %s'), 'Afield demo <demo@afield.invalid> Notes from the field')
  t.equal(git('status', '--porcelain'), '')
  t.notOk(existsSync(join(person, 'other')))
  appendFileSync(join(folder, 'notes.md'), '- A line of the agent\n')
  t.equal(openDemoFolder(join(person, 'afield'), env), folder)
  t.equal(git('status', '--porcelain'), 'M notes.md', 'and the next demo leaves them')
})

t.test('without git, or with one that fails, the demo has its folder all the same', async t => {
  const program = '#!/bin/sh\nmkdir -p .git\ncase "$*" in *" init "*) ;; *) exit 1 ;; esac\n'
  const bin = t.testdir({ git: program, none: {}, failing: {} })
  execFileSync('chmod', ['+x', join(bin, 'git')])
  for (const [home, path] of [
    ['none', '/nowhere'],
    ['failing', `${bin}:${process.env['PATH']}`]
  ] as const) {
    t.strictSame(readdirSync(openDemoFolder(join(bin, home), { ...process.env, PATH: path })), ['notes.md'], home)
  }
})
