import { version } from '@millrace/platform';
import { Argument, Command } from 'commander';
import { completionScript, type Shell, shells } from '../../completion/script.ts';
import { printJson, screenOn } from '../screen.ts';

const notes = `
To install:
  bash  millrace completion bash > ~/.local/share/bash-completion/completions/millrace
  zsh   millrace completion zsh > "\${fpath[1]}/_millrace"
  fish  millrace completion fish > ~/.config/fish/completions/millrace.fish
To try it in the current shell: source <(millrace completion bash)`;

export const completionCommand = (): Command =>
  new Command('completion')
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>', 'shell to complete commands in').choices(shells))
    .option('--json', 'print JSON: the shell and its script')
    .addHelpText('after', notes)
    .action(async (shell: Shell, { json = false }: { readonly json?: boolean }, own: Command) => {
      const { topics } = await import('../../help/find-topic.ts');
      const root = own.parent as Command;
      const helpWords = [
        ...root.commands.map((command) => ({ word: command.name(), description: command.description() })),
        ...topics().map((topic) => ({ word: topic, description: '' })),
      ];
      const script = completionScript(shell, root, version, { help: helpWords });
      if (json) return printJson({ shell, script });
      screenOn(process.stdout).raw(script);
    });
