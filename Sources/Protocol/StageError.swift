/// Why a stage can't continue.
package enum StageError: Error, CustomStringConvertible {
    case unreadableCursor(String)
    case unreadablePage(producer: String)
    case refused(producer: String, why: String)

    package var description: String {
        switch self {
        case .unreadableCursor(let name):
            "the saved anchor of '\(name)' can't be read; move its state folder away to start over"
        case .unreadablePage(let producer): "a page from \(producer) can't be read: are both from the same release?"
        case .refused(let producer, let why): "\(producer) refused a pull: \(why)"
        }
    }
}
