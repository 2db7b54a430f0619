/// <reference lib="webworker" />
import { listenForPush } from './push.ts'

/** Inserted by the build: every file of the app, and a hash that identifies exactly this set of files. */
declare const ASSETS: readonly string[]
declare const BUILD: string

const worker = self as unknown as ServiceWorkerGlobalScope
const cacheName = `afield-${BUILD}`

// The app is cached as one set of files. The new set is complete before the old one is deleted, so the app opens offline and never mixes versions.
worker.addEventListener('install', event => {
  event.waitUntil(fill())
})

worker.addEventListener('activate', event => {
  event.waitUntil(dropOlder().then(() => worker.clients.claim()))
})

// The page decides when to reload: never while someone types or decides.
worker.addEventListener('message', event => {
  if (event.data === 'take-over') void worker.skipWaiting()
})

worker.addEventListener('fetch', event => {
  const { request } = event
  const url = new URL(request.url)
  if (request.method !== 'GET' || url.origin !== worker.location.origin) return
  if (request.mode === 'navigate') event.respondWith(page(request))
  else if (ASSETS.includes(url.pathname)) event.respondWith(asset(request))
  // Everything else goes to the server; its answers are never cached.
})

listenForPush(worker)

async function fill(): Promise<void> {
  const cache = await caches.open(cacheName)
  await cache.addAll(ASSETS.map(path => new Request(path, { cache: path.startsWith('/assets/') ? 'default' : 'reload' })))
}

async function dropOlder(): Promise<void> {
  const names = await caches.keys()
  await Promise.all(names.filter(name => name.startsWith('afield-') && name !== cacheName).map(name => caches.delete(name)))
}

// Every address is the same page. Paths that the server answers itself (downloads, health) are not cached.
async function page(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (/^\/(v\d+|health|socket\.io)(\/|$)/.test(pathname)) return fetch(request)
  if (ASSETS.includes(pathname)) return asset(request)
  const kept = await caches.match('/index.html', { cacheName })
  return kept ?? fetch(request)
}

async function asset(request: Request): Promise<Response> {
  const kept = await caches.match(request, { cacheName, ignoreSearch: true, ignoreVary: true })
  return kept ?? fetch(request)
}
