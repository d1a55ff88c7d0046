import './dialog.css';

/** The background of a dialog. While the dialog is loading it blocks key presses for the page: after `/` a user keeps typing. */
export const Backdrop = () => <div className="backdrop" />;
