import Configuration
import Foundation
import Glibc
import HTTP
import HealthModel
import UploaderReading

// Servers elsewhere to which the stack sends data or requests, and the files with the secrets that they require.
extension Surroundings {
    var secrets: [Finding] { unnamedTokens + secretFiles }

    private var secretFiles: [Finding] {
        var files: [(path: String, key: String, isOwn: Bool, isNeeded: Bool, what: String)] = []
        if stack.only(.backend) != nil { files.append((state.backendToken, "", true, true, "token")) }
        for instance in stack.instances {
            let declared = instance.manifest.destination.map { $0.token.map { [($0.option, $0.word)] } ?? [] }
            for (option, what) in declared ?? Self.secretOptions {
                guard let file = instance.configuration[option].string else { continue }
                if option == Self.followToken.option, isSet(Self.followToken.variable) { continue }
                if DestinationToken.isOverridden(of: instance, in: stack, environment: environment) { continue }
                // The backend reads it at its start, others when they send something.
                let isNeeded = instance.manifest.kind == .backend
                if isNeeded, isSet(Self.backendToken) { continue }
                files.append((file, "instances.\(instance.name).configuration.\(option)", false, isNeeded, what))
            }
        }
        return files.flatMap { file -> [Finding] in
            func finding(_ severity: Finding.Severity, _ what: String, _ remedy: String) -> Finding {
                let found =
                    file.isOwn
                    ? Finding(severity, file.path, what, remedy: remedy)
                    : Finding(severity, stack.file, key: file.key, "\(file.path) \(what)", remedy: remedy)
                return file.isNeeded && severity == .error ? found.keepingFromStarting() : found
            }
            var status = stat()
            guard stat(file.path, &status) == 0 else {
                // A file that belongs to the stack itself is created on its first start.
                return file.isOwn ? [] : [finding(.error, "isn't there", "write the \(file.what) into it, mode 0600")]
            }
            guard let data = FileManager.default.contents(atPath: file.path) else {
                return [finding(.error, "can't be read", "let this account read it")]
            }
            if String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines).isEmpty {
                return [finding(.error, "is empty", "write the \(file.what) into it")]
            }
            guard status.st_mode & 0o077 != 0 else { return [] }
            return [finding(.warning, "can be read by other accounts", "chmod 600 \(file.path)")]
        }
    }

    /// Destinations that need a token, and don't say where it is.
    private var unnamedTokens: [Finding] {
        stack.instances.compactMap { instance in
            let file = DestinationToken.unnamedFile(of: instance, in: stack, state: state, environment: environment)
            guard let file, !FileManager.default.fileExists(atPath: file) else { return nil }
            return Finding(
                .error, stack.file, key: "instances.\(instance.name).configuration.tokenFile",
                "is needed: the server's token is in none of the places where it is looked for",
                remedy: "name the file that holds it, or set \(DestinationToken.variable); "
                    + "if the server asks for no token, write \"token\": \"none\"")
        }
    }

    /// Servers that aren't the stack's own: whether their address is valid, and whether anything answers there.
    var servers: [Finding] { stack.instances.flatMap(servers) }

    /// Those of instances that aren't destinations.
    private static let secretOptions = [("tokenFile", "token"), (followToken.option, "token")]
    /// The variable overrides the option.
    private static let followToken = (option: "followTokenFile", variable: "HEALTHBUS_FOLLOW_TOKEN")
    private static let backendToken = "HEALTHBUS_BACKEND_TOKEN"

    private func isSet(_ variable: String) -> Bool { environment[variable].map { !$0.isEmpty } == true }

    private func servers(of instance: StackConfiguration.Instance) -> [Finding] {
        func key(_ option: String) -> String { "instances.\(instance.name).configuration.\(option)" }
        func configured(_ option: String) -> String? { instance.configuration[option].string }
        switch instance.manifest.kind {
        case .uploader:
            guard [.backend, .server].contains(instance.manifest.destination?.kind),
                let given = instance.address(file: stack.file, environment: environment)
            else { return [] }
            return answers(given.text, given.file, given.key)
        case .ingest:
            guard let url = configured("followUrl") else { return [] }
            var found = answers(url, stack.file, key("followUrl"))
            if configured(Self.followToken.option) == nil, !isSet(Self.followToken.variable) {
                found.append(
                    Finding(
                        .error, stack.file, key: key("followUrl"), "'followUrl' needs the other stack's token",
                        remedy:
                            "make one there with 'healthbus token new --scope read', write it into a file, and name "
                            + "the file in '\(Self.followToken.option)'; or set \(Self.followToken.variable)"
                    ).keepingFromStarting())
            }
            return found
        default: return []
        }
    }

    private func answers(_ url: String, _ subject: String, _ key: String) -> [Finding] {
        func finding(_ severity: Finding.Severity, _ what: String, _ remedy: String) -> Finding {
            Finding(severity, subject, key: key, what, remedy: remedy)
        }
        do {
            let client = try HTTPClient(base: url)
            var found: [Finding] = []
            if url.lowercased().hasPrefix("http://"), try !HTTPClient.isLoopback(url) {
                found.append(finding(.warning, "sends data and token in the clear to another machine", "use https://"))
            }
            do { _ = try client.send(HTTPRequest(method: "GET", path: "/"), timeout: 5) } catch let error as HTTPError {
                // A temporary failure is retried; an untrusted certificate stays untrusted.
                found.append(
                    finding(error.isTransient ? .warning : .error, "\(error.endpoint): \(error.detail)", error.hint))
            }
            return found
        } catch let error as HTTPError {
            return [finding(.error, error.detail, error.hint)]
        } catch { return [finding(.error, "\(error)", "write it as https://host[:port][/prefix]")] }
    }
}
