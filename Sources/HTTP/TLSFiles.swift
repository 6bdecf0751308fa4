/// The two files of an identity, read again to see whether they were renewed. For one thread.
package struct TLSFiles {
    package let certificateFile: String
    package let keyFile: String
    private var seen: TLSIdentity?

    package init(certificateFile: String, keyFile: String) {
        (self.certificateFile, self.keyFile) = (certificateFile, keyFile)
    }

    /// The content of the files, if it has changed since the last call; always on the first call. Each call reads a few
    /// kilobytes, and once a minute is often enough for certificates that last for weeks.
    ///
    /// While only one of the files has been rewritten, they don't match: `HTTPServer.renew` refuses that pair, and the
    /// next call returns the matching one.
    /// - Throws: `HTTPError` if they can't be read (`TLSIdentity`).
    package mutating func changed() throws(HTTPError) -> TLSIdentity? {
        let now = try TLSIdentity(certificateFile: certificateFile, keyFile: keyFile)
        guard now != seen else { return nil }
        seen = now
        return now
    }
}
