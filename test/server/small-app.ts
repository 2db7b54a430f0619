import { embedAssets, listAssets, readAsset } from '../../lib/assets.ts'

/**
 * From now on servers of this process have these files, such as `web/index.html`, in place of the built app, and their own
 * migrations as before. Returns all of them; what is set there is served too.
 */
export function serveSmallApp(app: Record<string, string | Uint8Array>): Map<string, Uint8Array> {
  const own = [...listAssets('sqlite/'), 'package.json'].map(name => [name, readAsset(name) ?? new Uint8Array()] as const)
  const files = new Map<string, Uint8Array>([
    ...own,
    ...Object.entries(app).map(([name, content]) => [name, Buffer.from(content)] as const)
  ])
  embedAssets({ names: () => [...files.keys()], read: name => files.get(name) })
  return files
}
