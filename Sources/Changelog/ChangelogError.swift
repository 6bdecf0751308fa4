/// Why a store can't continue.
package enum ChangelogError: Error, CustomStringConvertible {
    case newerSchema(path: String, found: Int64, known: Int64)
    case fenced(path: String, ours: Int64, theirs: Int64)

    package var description: String {
        switch self {
        case .newerSchema(let path, let found, let known):
            "\(path) was written by a newer release (schema \(found), but this one knows only \(known)); run that release, or restore a backup"
        case .fenced(let path, let ours, let theirs):
            "\(path) was taken over by another process (epoch \(theirs), ours was \(ours)); this one stops without writing"
        }
    }
}
