#!/bin/bash
# A display with a window manager, a session bus and the accessibility bus; ends with the display.
rm -f "/tmp/.X${DISPLAY#:}-lock" "/tmp/.X11-unix/X${DISPLAY#:}"
mkdir -p -m 700 "$XDG_RUNTIME_DIR"
mkdir -p -m 1777 /tmp/.X11-unix
rm -f "$XDG_RUNTIME_DIR/bus"
coproc server { exec Xvfb "$DISPLAY" -screen 0 "${DESKTOP_SIZE:-1280x800}x24" -nolisten tcp -ac -noreset -r -dpi 96 -displayfd 1; }
dbus-daemon --session --address="$DBUS_SESSION_BUS_ADDRESS" --nofork --nopidfile --nosyslog &
read -r _ <&"${server[0]}" || exit 1
/usr/libexec/at-spi-bus-launcher --launch-immediately --a11y=1 &
openbox &
wait "$server_PID"
