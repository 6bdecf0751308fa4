import HealthModel
import MessageBus
import Protocol

/// What a command that can send a file's bytes has reported about the file: stored with the import until the file is in
/// the inbox.
struct FileOffer: Equatable {
    /// The command without its id and its sender: an identical request continues with what has already arrived.
    var request: ImportFile
    /// When the file was last offered.
    var heard: Instant

    /// Offers come every second, but are saved no more often than this.
    static let resolution = Duration.seconds(60)
    /// A transfer from a pipe can't be resumed: its import waits only for as long as the sender may be out of reach.
    private static let patience = (file: Duration.seconds(24 * 3600), pipe: Duration.seconds(180))

    init(request: ImportFile, heard: Instant) { (self.request, self.heard) = (request, heard) }

    /// nil for a command that offers nothing.
    init?(_ command: ImportFile, heard: Instant) {
        guard Self.sender(of: command) != nil else { return nil }
        var request = command
        (request.id, request.sender) = (nil, nil)
        self.init(request: request, heard: heard)
    }

    /// The process that can be asked for the bytes: a tool, never an instance of the stack.
    static func sender(of command: ImportFile) -> String? {
        command.sender.flatMap { BusName.isTool($0) && $0.utf8.count <= 128 ? $0 : nil }
    }

    /// nil for a pipe.
    var file: FileIdentity? { request.file }

    /// Whether the rest can no longer be expected.
    func isStale(at now: Instant) -> Bool { now - heard > (file == nil ? Self.patience.pipe : Self.patience.file) }
}
