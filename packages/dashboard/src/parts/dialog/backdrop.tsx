import './dialog.css';

/** What is behind a dialog. While the dialog is loaded it keeps keys from the page: whoever has pressed `/` goes on typing. */
export const Backdrop = () => <div className="backdrop" />;
