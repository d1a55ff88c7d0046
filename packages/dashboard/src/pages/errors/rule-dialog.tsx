import { Dialog } from '../../parts/dialog/dialog.tsx';
import { RuleForm, type RulePatterns } from './rule-form.tsx';

interface RuleDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** The error from which the rule's patterns are derived. */
  readonly start?: RulePatterns;
}

export const RuleDialog = ({ isOpen, onClose, start }: RuleDialogProps) => (
  <Dialog isOpen={isOpen} onClose={onClose} title="Group errors by a rule" isWide>
    <RuleForm start={start} onAdded={onClose} />
  </Dialog>
);
