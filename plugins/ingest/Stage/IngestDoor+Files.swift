import Glibc
import HTTP
import HealthModel
import JSON
import Protocol

/// Whole files: an export as it is, streamed to disk and handed over.
extension IngestDoor {
    /// Where files go, and how large one may be.
    package struct Files: Sendable {
        package var taking: any FileTaking
        /// On the same disk as the observer's inbox, so that a link is enough to hand a file over.
        package var folder: String
        package var bytes: Int
        /// Receives a sentence for the operator.
        package var failed: @Sendable (String) -> Void

        package init(
            _ taking: any FileTaking, folder: String, bytes: Int, failed: @escaping @Sendable (String) -> Void
        ) {
            (self.taking, self.folder, self.bytes, self.failed) = (taking, folder, bytes, failed)
        }
    }

    /// Streams the body of a request that was let in.
    func stream(_ files: Files) -> HTTPServer.Admission {
        do throws(HTTPRefusal) {
            do throws(IngestProblem) { try requireObserver() } catch { return .refuse(count(error)) }
            let receiver = try FileReceiver(folder: files.folder, failed: files.failed)
            return .stream(
                HTTPServer.BodyStream(to: receiver, limit: files.bytes) { [self] in take(receiver, files, $0) })
        } catch { return .refuse(error.answer) }
    }

    /// The whole file is on disk: it goes to the observer, and is removed here.
    private func take(_ receiver: FileReceiver, _ files: Files, _ request: HTTPRequest) -> HTTPResponse {
        defer { receiver.abandon() }
        do throws(IngestProblem) {
            // The body may have taken hours, in which a token may have ended.
            let caller = try admit(request).caller
            guard receiver.byteCount > 0 else { throw .malformed("the body is empty") }
            let hash = receiver.contentHash
            let content = [hash.high, hash.low].flatMap { word in
                (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) }
            }
            let id: String
            do throws(FileHandover.Failure) {
                // Linked under a name that the list of imports can show; another file with the same content may have
                // that name at this moment.
                let kept = try? receiver.keep(as: "posted-" + String(hash.high, radix: 16))
                defer { if let kept { unlink(kept) } }
                id = try files.taking.handOver(kept ?? receiver.path, content: content, user: caller.user)
            } catch { throw Self.problem(error) }
            noteTaken()
            return HTTPResponse(status: 202, json: Array("{\"id\":\"\(id)\"}".utf8))
        } catch { return count(error) }
    }

    /// The state of a file, if it belongs to the caller's own user.
    func state(ofFile id: String?, _ caller: Caller) throws(IngestProblem) -> HTTPResponse {
        // An import's id has no other characters.
        guard let files, let id, id.utf8.count >= 8, id.utf8.allSatisfy(Array("0123456789abcdef-".utf8).contains)
        else { throw .notFound }
        let found: FileState?
        do throws(FileHandover.Failure) { found = try files.taking.state(id) } catch { throw Self.problem(error) }
        guard let found, found.row.user == caller.user else { throw .notFound }
        return HTTPResponse(status: 200, json: Array(Self.reported(found).json().utf8))
    }

    private static func reported(_ found: FileState) -> Value {
        let row = found.row
        // The sender needn't know how a file reaches the observer.
        let state = row.state == .receiving ? ImportRow.State.announced : row.state
        var members: [String: Value] = ["id": .string(row.id), "state": .string(state.rawValue)]
        if let reading = found.reading {
            members["bytesRead"] = .integer(reading.bytesRead)
            members["bytesTotal"] = .integer(reading.bytesTotal)
            members["records"] = .integer(reading.records)
        }
        // Its path concerns only the server.
        if var report = row.report?.object {
            report["path"] = nil
            members["report"] = .object(report)
        }
        if let problem = row.problem { members["problem"] = .string(problem.replacing(row.path, with: "the file")) }
        return .object(members)
    }

    private static func problem(_ failure: FileHandover.Failure) -> IngestProblem {
        switch failure {
        case .silent:
            .busy("the observer doesn't answer; the file wasn't stored", code: "observer-silent", seconds: 10)
        case .refused(let reason): .busy(reason, code: "not-kept", seconds: 30)
        case .unreadable(let reason): .malformed(reason)
        }
    }
}
