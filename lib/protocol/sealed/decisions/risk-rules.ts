import type { Level, RiskName } from './risk-names.ts'

// A command word is at the start, after a separator, or after a word that runs its argument; variables may be set before it.
// Their number is limited: a longer list would take too long.
const runner = 'sudo|doas|exec|eval|env|xargs|time|nohup|nice|setsid|stdbuf|timeout|if|elif|while|until|then|do|else|command|-exec'
const set = String.raw`(?:\w+=(?:"[^"\n]*"|'[^'\n]*'|\S*)\s+){0,4}`
const start = String.raw`(?<=(?:^|[\n;&|(\`{!]\s*|\b(?:${runner})\s+(?:(?:-\S+|\d\S*|\{\})\s+)*)${set}\\?)`
const flags = String.raw`(?:\s+-\S+)*`
const rest = String.raw`[^\n;&|]*?`

/** Signs of risk in a command; the marks are their matches. */
export const rules = [
  rule('deletes', 'risky', String.raw`${start}(?:\S*/)?rm\s+(?:${rest}\s)?-{1,2}(?:[a-zA-Z]*[rRf]\w*|recursive|force)`),
  rule(
    'deletes',
    'risky',
    String.raw`${start}(?:\S*/)?(?:shred|srm|unlink|rmdir|rimraf|trash)\b|\s-delete\b|${start}truncate\b|${start}Remove-Item\b|${start}del\s+/`
  ),
  rule(
    'rewrites-history',
    'risky',
    String.raw`(?<=\bpush\b${rest}\s)(?:--force(?:-with-lease|-if-includes)?(?:=\S+)?|-f|--mirror|--delete|\+\S+)(?=\s|$)`
  ),
  rule(
    'rewrites-history',
    'risky',
    String.raw`\bgit\b${rest}\b(?:filter-branch|filter-repo|rebase|commit\s+${rest}--amend|update-ref|reflog\s+expire)`
  ),
  rule(
    'discards',
    'risky',
    String.raw`\bgit\b${rest}\b(?:reset\s+${rest}--hard|clean\s+${rest}-\w*[fdx]\w*|checkout\s+(?:--?\s|${rest}--\s|\.)|restore\b|stash\s+(?:drop|clear)|branch\s+${rest}-D|worktree\s+remove)`
  ),
  rule('admin-rights', 'risky', String.raw`${start}(?:sudo|doas|su|pkexec|runas)\b`),
  rule(
    'runs-download',
    'risky',
    String.raw`\b(?:curl|wget|fetch|iwr|irm|Invoke-WebRequest|Invoke-RestMethod)\b[^\n;]*\|\s*(?:sudo\s+)?(?:\S*/)?(?:env\s+)?(?:ba|z|da|k|fi)?(?:sh|iex|python\d?|node|perl|ruby|php)\b`
  ),
  rule(
    'runs-download',
    'risky',
    String.raw`(?:(?:ba|z|da)?sh|eval|source|\.|python\d?|node)\s+(?:-c\s+)?["']?(?:<\(|\$\(|\`)\s*(?:curl|wget)\b|${start}(?:npx|bunx|uvx|(?:npm|pnpm|yarn|bun)\s+(?:exec|x)|pipx\s+run|pnpm\s+dlx|yarn\s+dlx)\b`
  ),
  rule(
    'unparsable',
    'risky',
    String.raw`${start}eval\b|\bbase64\s+(?:-d|-D|--decode)\b|\bxxd\s+-r\b|\\x[0-9a-f]{2}|${start}(?:python[\d.]*|node|deno|bun|perl|ruby|php)\s+(?:-\S+\s+)*(?:-[a-zA-Z]*[ce]|-p|-r|--eval|--print)\b|${start}(?:ba|z|da|fi|k)?sh\s+(?:-\S+\s+)*-\w*c\b`,
    'gi'
  ),
  // Options with which a harmless program runs another one.
  rule(
    'unparsable',
    'risky',
    String.raw`\bgit\s+(?:${rest}\s)?(?:-c\s*\S+|--config-env\S*|--exec-path=\S+|--upload-pack\S*|--receive-pack\S*|--ext-diff|--open-files-in-pager\S*|-O\S+)|\s-(?:exec|execdir|ok|okdir|fprint\w*|fls)\b|--(?:to-command|checkpoint-action|use-compress-program|rsh|script-shell|node-options)\b|\b(?:ProxyCommand|LocalCommand)\b|${start}(?:awk|gawk|mawk)\b${rest}\b(?:system|getline)\b|${start}(?:vi|vim|ed|ex|emacs)\b|(?<=^|[\s;&|(])(?:PATH|LD_\w+|DYLD_\w+|NODE_OPTIONS|BASH_ENV|ENV|IFS|SHELL|EDITOR|PAGER|PYTHON\w+|PERL5\w+|RUBYOPT|GIT_\w+)=`
  ),
  rule(
    'overwrites-disk',
    'risky',
    String.raw`${start}(?:mkfs\S*|fdisk|parted|wipefs|diskutil)\b|${start}dd\s+${rest}\bof=\S+|>\s*/dev/(?:sd|nvme|disk|hd)\w*`
  ),
  rule(
    'permissions',
    'risky',
    String.raw`${start}(?:chmod|chown|chgrp|icacls)\s+${rest}(?:-\w*R\w*|--recursive|777|a\+rwx|\+s)\b|:\(\)\s*\{`
  ),
  rule(
    'secrets',
    'risky',
    String.raw`(?:^|(?<=[\s"'=:/<>]))(?:\.env(?:\.[\w-]+)?(?=[\s"']|$)|~?/?\.ssh(?:/\S*)?|\.aws/\S*|\.netrc|\.npmrc|\.gnupg\S*|id_(?:rsa|ed25519)\S*|/etc/(?:shadow|sudoers)\S*)|\b(?:printenv|security\s+find-\S+|pass\s+show|op\s+read|gh\s+auth\s+token|kubectl\s+get\s+secrets?)\b`
  ),
  rule(
    'production',
    'risky',
    String.raw`(?<![\w./=-]|--mode\s|--env\s)(?:production|prod)(?![\w./-])|${start}\S*\bdeploy\b\S*|\b(?:run|task|make|just)\s+\S*\bdeploy\b\S*|\b(?:npm|pnpm|yarn|cargo|gem|twine|vsce|poetry)\s+(?:publish|upload)\b|\bgh\s+release\b|\bdocker\s+push\b`,
    'gi'
  ),
  rule(
    'database',
    'risky',
    String.raw`\b(?:drop\s+(?:table|database|schema|index)|truncate\s+table|delete\s+from|dropdb|flushall|flushdb|migrate\s+reset|db:drop|db:reset)\b`,
    'gi'
  ),
  rule(
    'infrastructure',
    'risky',
    String.raw`\bterraform\s+(?:apply|destroy)\b|\bkubectl\s+(?:delete|apply|drain|scale|rollout)\b|\bhelm\s+(?:uninstall|upgrade|install)\b|\bdocker\s+(?:system|volume|image|container)\s+prune\b|\bdocker(?:-|\s+)compose\s+down\s+${rest}-v\b|${start}(?:shutdown|reboot|halt|poweroff|systemctl|launchctl|crontab|iptables|ufw|userdel|passwd)\b|${start}(?:killall|pkill)${flags}\s`
  ),
  rule(
    'overwrites',
    'careful',
    String.raw`(?<![<>&\d])>{1,2}\|?(?!&)\s*(?!/dev/(?:null|stdout|stderr))[\w./~"'$-]+|${start}(?:mv|cp|install|ln|tee)\s|${start}sed\s+(?:${rest}\s)?-\w*i\b`
  ),
  rule('deletes', 'careful', String.raw`${start}(?:\S*/)?rm\s`),
  rule(
    'installs',
    'careful',
    String.raw`\b(?:npm|pnpm|bun)\s+(?:i|install|ci|add|update|uninstall)\b|\byarn\s+(?:add|install)\b|\b(?:pip\d?|uv|poetry|gem|cargo|brew|apt|apt-get|dnf|yum|pacman|apk|go|choco|winget)\s+(?:install|add|get|-S\w*)\b`
  ),
  rule(
    'network',
    'careful',
    String.raw`${start}(?:curl|wget|ssh|scp|rsync|sftp|ftp|nc|ncat|telnet|dig|nslookup|ping)\b|\bgit\s+(?:push|pull|fetch|clone)\b|\bhttps?://\S+`
  ),
  rule(
    'outside',
    'careful',
    String.raw`(?:^|(?<=[\s"'=<>]))(?:\.\./\S*|~/\S*|/(?:etc|usr|var|opt|root|home|Users|Library|System|bin|boot|srv)(?:/\S*)?)`
  )
]

function rule(name: RiskName, level: Level, source: string, options = 'g'): { name: RiskName; level: Level; pattern: RegExp } {
  return { name, level, pattern: new RegExp(source, options) }
}
