import HealthModel

/// One message on the bus: a topic, a header and a body, each in its own frame.
package struct Message: Sendable, Equatable {
    package var topic: String
    package var header: Header
    package var body: Value

    package init(topic: String, header: Header, body: Value = .null) {
        (self.topic, self.header, self.body) = (topic, header, body)
    }

    package struct Header: Sendable, Equatable {
        /// The sender's instance name.
        package var from: String
        /// When it was sent, by the sender's clock.
        package var at: Instant
        /// A different major version is refused. A higher minor version may have added fields.
        package var version: ProtocolVersion
        /// Fields added by newer minor versions, kept and passed on.
        package var other: [String: Value]

        // The header fields' names on the wire.
        fileprivate static let from = "from"
        fileprivate static let at = "at"
        fileprivate static let version = "v"

        package init(from: String, at: Instant, version: ProtocolVersion = .current, other: [String: Value] = [:]) {
            (self.from, self.at, self.version, self.other) = (from, at, version, other)
        }
    }
}

package struct ProtocolVersion: Sendable, Equatable, CustomStringConvertible {
    package var major: Int
    package var minor: Int

    package static let current = ProtocolVersion(major: 1, minor: 0)

    package init(major: Int, minor: Int) { (self.major, self.minor) = (major, minor) }

    package var description: String { "\(major).\(minor)" }
}

extension Message {
    /// The largest frame that is read. Pages have up to 64 KiB, parts of a pushed request most of this limit.
    package static let maximumFrame = 1 << 20

    /// The three frames, as sent.
    package var frames: [[UInt8]] {
        var fields = header.other
        fields[Header.from] = .string(header.from)
        fields[Header.at] = .integer(header.at.microseconds)
        fields[Header.version] = [.integer(Int64(header.version.major)), .integer(Int64(header.version.minor))]
        return [
            [UInt8](topic.utf8), CBOREncoder.encode(.object(fields)), body == .null ? [] : CBOREncoder.encode(body),
        ]
    }

    /// - Throws: `MessageError`, which says what is wrong; the message is then dropped and counted, never read in part.
    package init(frames: [[UInt8]]) throws(MessageError) {
        guard frames.count == 3 else { throw .frames(frames.count) }
        guard let topic = String(validating: frames[0], as: UTF8.self), !topic.isEmpty else { throw .topic }
        for frame in frames where frame.count > Self.maximumFrame { throw .tooLarge(topic: topic, bytes: frame.count) }
        let header = try Self.decode(frames[1], topic: topic)
        guard var fields = header.object, let from = fields.removeValue(forKey: Header.from)?.string,
            let at = fields.removeValue(forKey: Header.at)?.int,
            let version = fields.removeValue(forKey: Header.version)?.array,
            version.count == 2, let major = version[0].int, let minor = version[1].int
        else { throw .header(topic: topic) }
        guard major == Int64(ProtocolVersion.current.major) else {
            throw .version(topic: topic, from: from, theirs: ProtocolVersion(major: Int(major), minor: Int(minor)))
        }
        self.topic = topic
        self.header = Header(
            from: from, at: Instant(microseconds: at), version: ProtocolVersion(major: Int(major), minor: Int(minor)),
            other: fields)
        self.body = frames[2].isEmpty ? .null : try Self.decode(frames[2], topic: topic)
    }

    /// The sender, from a header's frame alone; nil when it can't be read.
    package static func sender(header frame: some Collection<UInt8>) -> String? {
        do throws(CBORError) { return try CBORDecoder.decode(frame)[Header.from].string } catch { return nil }
    }

    private static func decode(_ frame: [UInt8], topic: String) throws(MessageError) -> Value {
        do throws(CBORError) { return try CBORDecoder.decode(frame) } catch { throw .content(topic: topic, error) }
    }
}

/// Why something received from the bus isn't a message.
package enum MessageError: Error, Equatable, CustomStringConvertible {
    case frames(Int)
    case topic
    case header(topic: String)
    case tooLarge(topic: String, bytes: Int)
    case version(topic: String, from: String, theirs: ProtocolVersion)
    case content(topic: String, CBORError)

    package var description: String {
        switch self {
        case .frames(let count): "a message has three frames (topic, header, body); this one has \(count)"
        case .topic: "the topic isn't text"
        case .header(let topic): "'\(topic)': the header lacks from, at or v"
        case .tooLarge(let topic, let bytes):
            "'\(topic)': a frame of \(bytes) bytes; at most \(Message.maximumFrame) are allowed"
        case .version(let topic, let from, let theirs):
            "'\(topic)' from \(from) speaks protocol \(theirs), this process \(ProtocolVersion.current): run the same release of both"
        case .content(let topic, let error): "'\(topic)': \(error)"
        }
    }
}
