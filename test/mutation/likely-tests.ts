import { posix } from 'node:path'
import { importsOf } from '../kit/arrows.ts'
import { type NearTest, nearestTests } from '../kit/reach.ts'

interface Place {
  file: string
  line: number
  function: string
}

/**
 * For a place in a source, the tests that can reach it, those first that most likely notice a change: its own, then those that
 * are both near by imports and alike in words. Most code of the app is as far from all tests that open it; words tell them apart.
 */
export function likelyTests(tree: { files: readonly string[]; tests: readonly string[]; read(file: string): string }) {
  const { files, tests, read } = tree
  const nearest = nearestTests(tree)
  const likeness = likenessTo(new Map(tests.map(test => [test, textOf(test)])))
  const shown = wordsOfApp()
  return (place: Place): NearTest[] => {
    const near = nearest(place.file)
    const alike = likeness(`${place.file} ${place.function}`, aroundOf(place))
    const byWords = near.toSorted((a, b) => alike(b.test) - alike(a.test))
    const distances = [...new Set(near.map(({ distance }) => distance))]
    // The sum of both places, where the first few count.
    const score = (each: NearTest) => (each.isOwn ? 1 : 1 / (4 + distances.indexOf(each.distance)) + 1 / (4 + byWords.indexOf(each)))
    return near.toSorted((a, b) => score(b) - score(a))
  }

  /** With what it imports of the tests around it; the kit of all tests says nothing about one. */
  function textOf(test: string): string {
    const own = new Set([test])
    for (const file of own) {
      for (const { specifier } of importsOf(file, read(file))) {
        const path = posix.join(posix.dirname(file), specifier)
        if (files.includes(path) && path.startsWith('test/') && !/^test\/(?:kit|web\/stories)\//.test(path)) own.add(path)
      }
    }
    return [...own].map(file => `${file} ${read(file)}`).join('\n')
  }

  /** The lines around a place; in the app also the English texts that they show, by which a test finds and presses. */
  function aroundOf({ file, line }: Place): string {
    const around = read(file)
      .split('\n')
      .slice(Math.max(0, line - 9), line + 8)
      .join('\n')
    if (!file.startsWith('web/')) return around
    return `${around} ${[...around.matchAll(/\.(\w+)/g)].flatMap(([, key = '']) => shown.get(key) ?? []).join(' ')}`
  }

  function wordsOfApp(): Map<string, string[]> {
    const texts = files.filter(file => /^web\/words\/[\w-]+\.ts$/.test(file)).map(read)
    const found = texts.flatMap(text => [...text.matchAll(/(\w+):[^'`\n]*['`](.*)['`]/g)])
    return new Map([...Map.groupBy(found, ([, key = '']) => key)].map(([key, all]) => [key, all.map(([, , text = '']) => text)]))
  }
}

/** How much each of the texts shares with others in words. A word of few texts counts more; a long text does not win by its length. */
function likenessTo(texts: ReadonlyMap<string, string>): (...asked: string[]) => (name: string) => number {
  const words = new Map([...texts].map(([name, text]) => [name, wordsOf(text)]))
  const count = new Map<string, number>()
  for (const word of [...words.values()].flatMap(own => [...own])) count.set(word, (count.get(word) ?? 0) + 1)
  const weight = (all: Set<string>) =>
    all.values().reduce((sum, word) => sum + Math.log(texts.size / (count.get(word) ?? texts.size)) ** 2, 0)
  const lengths = new Map([...words].map(([name, own]) => [name, Math.sqrt(weight(own)) || 1]))
  return (...asked) => {
    const sets = asked.map(wordsOf)
    return name => sets.reduce((sum, set) => sum + weight(set.intersection(words.get(name) ?? new Set())), 0) / (lengths.get(name) ?? 1)
  }
}

/** Names are split into their words; a session and sessions, approve and approved are the same. */
function wordsOf(text: string): Set<string> {
  const split = text.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
  return new Set((split.match(/[a-z]{3,}/g) ?? []).map(word => word.replace(/(?:ing|ed|es|s|e)$/, '')))
}
